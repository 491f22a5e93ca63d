// SPDX-License-Identifier: Apache-2.0
// Streams into files without a name: what zips and splits disks hands them on in order.
#pragma once

#include <stdint.h>

#include "base/child.h"

// Takes all that comes from `from`, a pipe or file, into a new sparse file. A partclone image becomes the filesystem
// that it holds.
int landing_make(int from, const char *folder, int *ret_fd, struct fault *fault);

// Starts the program that decompresses what begins with `head` (at least 6 bytes). *ret_pipe: where it comes out.
// Returns 1 when that is not compressed.
int landing_decompress(const uint8_t *head, int in, struct child *ret, int *ret_pipe, struct fault *fault);
