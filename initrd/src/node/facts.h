// SPDX-License-Identifier: Apache-2.0
// What this machine is, as lines of contract/report.md. `root` is "" or a directory with copies of /proc and /sys.
#pragma once

#include "base/fault.h"
#include "base/text.h"

// A whole body: from "facts 1" to the last disk and nic.
int facts_collect(const char *root, struct text *text, struct fault *fault);

// Id of this boot of the kernel; "" when it cannot be read.
void facts_boot_id(const char *root, char *ret, size_t size);
double facts_uptime(const char *root); // seconds since the kernel started
