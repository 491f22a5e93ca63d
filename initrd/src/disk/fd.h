// SPDX-License-Identifier: Apache-2.0
// Operations that all devices with a descriptor have in common.
#pragma once

#include "disk/device.h"

ssize_t fd_pread(struct device *device, void *data, size_t size, uint64_t offset);
ssize_t fd_pwrite(struct device *device, const void *data, size_t size, uint64_t offset);
int fd_sync(struct device *device);
