// SPDX-License-Identifier: Apache-2.0
// A disk that is only read: it may be in use, be read-only, or be on a keep list.
#pragma once

#include "disk/device.h"

// The one disk that `selector` means. When that is refused, every disk with its reason is added to `list`.
int device_open_read(const char *selector, struct device *ret, struct text *list, struct fault *fault);

// A raw file in its place.
int device_open_read_file(const char *path, struct device *ret, struct fault *fault);
