// SPDX-License-Identifier: Apache-2.0
// Disks in files of imagezip (.ndz), which this program unpacks itself, confined as other programs are.
#pragma once

#include "base/fault.h"
#include "import/recognise.h"
#include "import/room.h"

int import_ndz(int fd, enum import_kind kind, const struct import_room *room, int *ret_fd, struct fault *fault);
