// SPDX-License-Identifier: Apache-2.0
// Writes streams, such as the output of a decompressor, to temporary files.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/child.h"
#include "import/room.h"

// Writes everything from `from`, a pipe or file, to a new sparse file. A partclone image becomes the filesystem that it
// holds: *ret_is_map is true then.
int landing_make(int from, const struct import_room *room, int *ret_fd, bool *ret_is_map, struct fault *fault);

// Starts the program that decompresses data; `head` holds its first bytes (at least 6). *ret_pipe: its output. Returns
// 1 if the data is not compressed.
int landing_decompress(const uint8_t *head, int in, struct child *ret, int *ret_pipe, struct fault *fault);
