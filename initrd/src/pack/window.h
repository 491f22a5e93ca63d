// SPDX-License-Identifier: Apache-2.0
// A partition under a name that another program can open: a read-only loop device, the kernel's own partition, or a
// sparse copy.
#pragma once

#include "disk/disk.h"
#include "disk/reader.h"

struct window {
	char path[64];
	int fd; // keeps the loop device or the copy; -1
};

// `folder`: where a copy may be made when there is no other way.
int window_open(const struct reader *reader, const struct partition *partition, const char *folder, struct window *ret,
		struct fault *fault);
void window_close(struct window *window);
