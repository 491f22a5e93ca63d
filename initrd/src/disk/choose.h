// SPDX-License-Identifier: Apache-2.0
// Chooses the disk that a plan selects (contract/plan.md, disk selectors). Pure functions over the table of disks.
#pragma once

#include "base/fault.h"
#include "disk/disk.h"
#include "disk/selector.h"

// Succeeds if exactly one candidate matches `selector` and it may be written. Code 4 otherwise, 2 for a selector that
// does not parse.
int choose_disk(const struct disks *disks, const char *selector, const char *keep, const struct disk **ret,
		struct fault *fault);

// Adds one line per disk: its facts, and in why= the reason that it must not be written; empty: it may. `selector` may
// be NULL.
int choose_list(const struct disks *disks, const char *selector, const char *keep, struct text *text,
		struct fault *fault);
