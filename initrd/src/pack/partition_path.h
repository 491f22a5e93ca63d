// SPDX-License-Identifier: Apache-2.0
// Makes a partition available to another program under a name: as a read-only loop device, as the kernel's partition
// device, or as a sparse copy.
#pragma once

#include <stdbool.h>

#include "disk/disk.h"
#include "disk/reader.h"

struct partition_path {
	char path[64];
	int fd; // keeps the loop device or the copy; -1
};

// `folder`: for a copy, if neither device is available. `guarded`: the name is never that of the disk itself, nor of
// its partition, so a program that opens it for writing changes neither.
int partition_path_open(const struct reader *reader, const struct partition *partition, const char *folder,
			bool guarded, struct partition_path *ret, struct fault *fault);
void partition_path_close(struct partition_path *path);
