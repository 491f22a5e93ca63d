// SPDX-License-Identifier: Apache-2.0
// What the disks of a machine hold, as far as their choice depends on it: the sets that they are members of, and their
// partitions, which may be kept.
#pragma once

#include "base/fault.h"
#include "disk/disk.h"

// Reads all of them side by side, from their files below `root`/dev. What cannot be read is marked.
int contents_read(const char *root, struct disks *disks, struct fault *fault);

// Sets `sets` to the sets of which one disk or partition is a part, by its content. Returns false if it cannot be read.
bool contents_sets(int fd, uint64_t start, uint64_t bytes, char sets[SETS_MAX]);

#define CONTENTS_TYPE 64u

// Reads the type of the content of a partition, a word of libblkid. Returns an error of code 3 if it has no
// signature, or several that differ.
int contents_type(const char *path, char ret[CONTENTS_TYPE], struct fault *fault);
