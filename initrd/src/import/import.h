// SPDX-License-Identifier: Apache-2.0
// Any form of a disk that an operator has, as a raw disk: itself, or a sparse file without a name that is made of it.
#pragma once

#include "base/fault.h"

// `path`: a file or block device, or a folder of Clonezilla or FOG. Temporary files go to `folder`. Code 4 when a
// device is in use, 3 for what cannot be read as a disk.
int import_open(const char *path, const char *folder, int *ret_fd, struct fault *fault);
