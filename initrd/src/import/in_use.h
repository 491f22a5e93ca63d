// SPDX-License-Identifier: Apache-2.0
// Whether somebody may write to a disk file while it is read.
#pragma once

#include <sys/types.h>

#include "base/fault.h"

// Code 4, with what holds it, if a loop device over the file is mounted or held by another device (LVM, LUKS), or if a
// virtual machine has it open for writing. `fd` may be a block device too: the machine is found then, and of a loop
// device whoever uses its file in another way. `root`: where /sys and /proc are; "" except in tests.
int in_use_check(const char *root, int fd, struct fault *fault);

// Returns an error of code 4 for a block device that cannot be opened exclusively, with what holds its disk.
int in_use_report(const char *root, dev_t number, struct fault *fault);
