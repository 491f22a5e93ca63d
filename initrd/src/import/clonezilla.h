// SPDX-License-Identifier: Apache-2.0
// A folder that Clonezilla saved from one disk: "disk" and "parts" name it and its partitions; DISK-pt.sf is its table.
#pragma once

#include "base/fault.h"
#include "import/room.h"

int import_clonezilla(int dir, const char *path, const struct import_room *room, int *ret_fd, struct fault *fault);
