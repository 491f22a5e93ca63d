// SPDX-License-Identifier: Apache-2.0
// Decompresses a file of a usual compressor, or restores a partclone image, to a new temporary file.
#pragma once

#include "base/fault.h"
#include "import/recognise.h"
#include "import/room.h"

int import_decompress(int fd, enum import_kind kind, const struct import_room *room, int *ret_fd, struct fault *fault);
int import_partclone(int fd, enum import_kind kind, const struct import_room *room, int *ret_fd, struct fault *fault);
