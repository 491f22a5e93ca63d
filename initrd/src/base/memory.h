// SPDX-License-Identifier: Apache-2.0
// Memory of this machine.
#pragma once

#include <stdint.h>

#include "base/fault.h"

// Returns an error of code 3 if fewer bytes are available, by /proc/meminfo below `root`; 0 if there is no such
// file. A program that is killed half-way prints nothing.
int memory_check(const char *root, uint64_t bytes, const char *what, struct fault *fault);
