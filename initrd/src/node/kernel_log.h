// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/text.h"

// Adds the last `max` bytes of the kernel's log, whole lines "[seconds] message"; nothing where it cannot be read.
void kernel_log_tail(const char *path, size_t max, struct text *text);

// One record of /dev/kmsg ("6,339,5140900,-;message\n key=value\n") to one line. Pure; "" for what is no record.
void kernel_log_line(const char *record, size_t size, struct text *text);
