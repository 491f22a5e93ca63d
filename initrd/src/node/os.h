// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "base/text.h"

// Writes the running system's description of itself: the body that contract/report.md, operational, defines. `lacks` is
// what of its seed is not in use, in one line; empty: nothing.
int os_describe(const char *root, const char *generation, const char *lacks, struct text *text, struct fault *fault);

// Returns whether the kernel with these arguments was started by the step kexec (contract/kernel-arguments.md).
// Pure.
bool os_was_jumped_to(const char *arguments);

// Finds the value of KEY=value in the format of /etc/os-release, without quotes; sets "" if it is missing. Pure.
void os_release_value(const char *file, const char *key, char *ret, size_t size);
