// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/text.h"

// Adds the last `max` bytes of the kernel's log as whole lines "[seconds] message"; nothing if it cannot be read.
void kernel_log_tail(const char *path, size_t max, struct text *text);

// Formats one record of /dev/kmsg ("6,339,5140900,-;message\n key=value\n") as a line. Pure; "" for anything else.
void kernel_log_line(const char *record, size_t size, struct text *text);
