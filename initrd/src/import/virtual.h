// SPDX-License-Identifier: Apache-2.0
// Disks of virtual machines, by qemu-img.
#pragma once

#include "base/fault.h"
#include "import/recognise.h"
#include "import/room.h"

int import_virtual(int fd, enum import_kind kind, const struct import_room *room, int *ret_fd, struct fault *fault);
