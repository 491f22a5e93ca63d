// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "base/text.h"

// The whole body of contract/report.md, operational: the running system's description of itself.
int os_describe(const char *root, const char *generation, struct text *text, struct fault *fault);

// Whether the kernel with these arguments was started by the step kexec (contract/kernel-arguments.md). Pure.
bool os_was_jumped_to(const char *arguments);

// The value of KEY=value in the format of /etc/os-release, without quotes; "" if it is missing. Pure.
void os_release_value(const char *file, const char *key, char *ret, size_t size);
