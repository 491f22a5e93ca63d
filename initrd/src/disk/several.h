// SPDX-License-Identifier: Apache-2.0
// The disks that the step wipe names: all, or one for each selector. Pure functions over the table of disks.
#pragma once

#include "base/fault.h"
#include "disk/disk.h"

#define SEVERAL_MAX 256u

struct several {
	size_t count;
	struct {
		const struct disk *disk;
		char left[256];	 // why it is left out; empty: it is not
		char unfit[256]; // why it cannot be taken, though it should be; empty: it can
	} items[SEVERAL_MAX];
};

// `disks_text`: "all", or selectors joined by ";", each of which must match exactly one disk that may be written.
// With "all" kept, removable and USB disks and those without a size are left out, and a disk that may not be written
// is unfit. Returns an error of code 4 if there is no disk to take, a selector has none or several, or a set would
// be halved.
int several_choose(const struct disks *disks, const char *disks_text, const char *keep, struct several *ret,
		   struct fault *fault);

// For operands: "all" or selectors. Returns an error of code 2 if they do not parse.
int several_check(const char *disks_text, struct fault *fault);
