// SPDX-License-Identifier: Apache-2.0
// Which disk a plan means (contract/plan.md, disk selectors). Pure functions over the table of disks.
#pragma once

#include "base/fault.h"
#include "disk/disk.h"
#include "disk/selector.h"

// Exactly one candidate matches `selector` and it may be touched. The fault has code 4 otherwise, 2 for a selector that
// does not parse.
int choose_disk(const struct disks *disks, const char *selector, const char *keep, const struct disk **ret,
		struct fault *fault);

// One line a disk: its facts and why= it is not to be touched; a fit one has an empty why. `selector` may be NULL.
int choose_list(const struct disks *disks, const char *selector, const char *keep, struct text *text,
		struct fault *fault);
