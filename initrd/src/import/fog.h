// SPDX-License-Identifier: Apache-2.0
// A folder that FOG saved from one disk: d1.partitions is its table, d1.mbr its boot code, d1pN.img a partition each.
#pragma once

#include "base/fault.h"
#include "import/room.h"

int import_fog(int dir, const char *path, const struct import_room *room, int *ret_fd, struct fault *fault);
