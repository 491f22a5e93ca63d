// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "base/text.h"

// A whole body of contract/report.md, operational: what the running system says of itself.
int os_describe(const char *root, const char *generation, struct text *text, struct fault *fault);

// Whether the kernel with these arguments was started by the step kexec (contract/kernel-arguments.md). Pure.
bool os_was_jumped_to(const char *arguments);

// Value of KEY=value in the manner of /etc/os-release, without its quotes; "" when it is not there. Pure.
void os_release_value(const char *file, const char *key, char *ret, size_t size);
