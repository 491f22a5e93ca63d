// SPDX-License-Identifier: Apache-2.0
// Chooses the disk that a plan selects (contract/plan.md, disk selectors). Pure functions over the table of disks.
#pragma once

#include "base/fault.h"
#include "disk/disk.h"
#include "disk/selector.h"

// A disk of the machine, though perhaps no candidate now: a stick, or a locked disk.
bool choose_is_disk(const struct disk *disk);

// Parses a keep list, NULL for none, adds that of the machine, and fails with code 4 if an entry matches no disk: what
// it was meant to keep would not be kept. Free `ret` after a failure too.
int choose_keep(const struct disks *disks, const char *text, struct keep *ret, struct fault *fault);

// Sets `why` if the disk must not be written, by this path or another, whatever the selector. Returns false if it
// may be written.
bool choose_unfit(const struct disks *disks, const struct disk *disk, const struct keep *keep, char *why, size_t size);

// Returns the path of a disk that stands for it: the first of those that the kernel shows. Most disks have one path.
const struct disk *choose_first_path(const struct disks *disks, const struct disk *disk);

// Succeeds if exactly one candidate matches `selector` and it may be written. Returns an error of code 4 otherwise,
// 2 for a selector that does not parse.
int choose_disk(const struct disks *disks, const char *selector, const char *keep, const struct disk **ret,
		struct fault *fault);

// Fails with code 4 if one of these disks shares a set with another disk of the machine that is none of them.
int choose_whole(const struct disks *disks, const struct disk *const taken[], size_t count, struct fault *fault);

// Adds one line per disk: its facts, and in why= the reason that it must not be written; empty: it may; then its
// partitions. `selector` may be NULL.
int choose_list(const struct disks *disks, const char *selector, const char *keep, struct text *text,
		struct fault *fault);
