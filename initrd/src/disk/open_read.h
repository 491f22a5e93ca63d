// SPDX-License-Identifier: Apache-2.0
// Disks that are only read: they may be in use, read-only or on a keep list.
#pragma once

#include "disk/device.h"

// Opens the one disk that `selector` matches. If that is refused, every disk is added to `list` with the reason.
int device_open_read(const char *selector, struct device *ret, struct text *list, struct fault *fault);

// Opens a raw file in place of a disk.
int device_open_read_file(const char *path, struct device *ret, struct fault *fault);
