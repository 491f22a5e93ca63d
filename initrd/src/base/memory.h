// SPDX-License-Identifier: Apache-2.0
// Memory of this machine.
#pragma once

#include <stdint.h>

#include "base/fault.h"

// Code 3 if fewer bytes are available, by /proc/meminfo below `root`: a program that is killed half-way prints nothing.
// 0 where there is no such file.
int memory_check(const char *root, uint64_t bytes, const char *what, struct fault *fault);
