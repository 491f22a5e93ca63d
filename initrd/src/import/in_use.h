// SPDX-License-Identifier: Apache-2.0
// Whether somebody may write to a disk file while it is read.
#pragma once

#include "base/fault.h"

// Code 4, with what holds it, if a loop device over the file is mounted or held by another device (LVM, LUKS), or if a
// virtual machine has it open for writing. `root`: where /sys and /proc are; "" except in tests.
int in_use_check(const char *root, int fd, struct fault *fault);
