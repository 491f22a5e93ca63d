// SPDX-License-Identifier: Apache-2.0
// Whether somebody else uses a disk, or the file of one. Asked of all that is opened, to read or to write.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

// Code 4, with what holds it, if a loop device over the file is mounted or held by another device (LVM, LUKS), if a
// virtual machine has it open for writing, or if any other program has. With `writes` also if it is open or has a loop
// device at all. `fd` may be a block device too: the machine is found then, and of a loop device whoever uses its file
// in another way. `root`: where /sys and /proc are; "" except in tests.
int in_use_check(const char *root, int fd, bool writes, struct fault *fault);

// The part of it that is about virtual machines, for a device of which all else is known.
int in_use_check_machine(int fd, struct fault *fault);

// Returns an error of code 4 for a block device that cannot be opened exclusively, with what holds its disk.
int in_use_report(const char *root, dev_t number, struct fault *fault);
