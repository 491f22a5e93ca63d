// SPDX-License-Identifier: Apache-2.0
// Opens any form of a disk as a raw disk: the file itself, or a temporary sparse file that is made from it.
#pragma once

#include "base/fault.h"
#include "import/room.h"

// `path`: a file or block device, or a folder of Clonezilla or FOG. Temporary files are made in `room`. Returns an
// error of code 4 if a device is in use, 3 if it cannot be read as a disk.
int import_open(const char *path, const struct import_room *room, int *ret_fd, struct fault *fault);
