// SPDX-License-Identifier: Apache-2.0
// Loop devices and device-mapper, read-only, by the kernel's ioctls.
#pragma once

#include <stdint.h>

#include "base/fault.h"

#define DEVICE_PATH 32u

// Makes a loop device of a file, which is gone once nothing has it open. *ret_fd keeps it until then.
int mapper_loop(int file, char ret_path[DEVICE_PATH], int *ret_fd, struct fault *fault);

// Makes the device `name` of one target, and prints its path to *ret_path. Returns an error of code 3 if this kernel
// has no such target.
int mapper_create(const char *name, const char *target, const char *table, uint64_t sectors, char ret_path[DEVICE_PATH],
		  struct fault *fault);

// The state of its target in one letter, such as V or C of verity (valid, corrupted).
int mapper_state(const char *name, char *ret, struct fault *fault);

// Returns 1 if there is no such device.
int mapper_remove(const char *name, struct fault *fault);
