// SPDX-License-Identifier: Apache-2.0
// The disks that a machine keeps whatever its plan (contract/kernel-arguments.md, sled.keep and /etc/sled/keep).
#pragma once

#include "base/fault.h"

// Sets *ret to them joined by ";", as they are written; NULL if there are none. Returns an error if a file cannot be
// read: its disks would not be kept.
int machine_keep_read(const char *root, char **ret, struct fault *fault);
