// SPDX-License-Identifier: Apache-2.0
// The facts of this machine, as lines of contract/report.md. `root` is "" or a directory with copies of /proc and /sys.
#pragma once

#include "base/fault.h"
#include "base/text.h"

// Writes the whole body, from "facts 1" to the last disk and nic.
int facts_collect(const char *root, struct text *text, struct fault *fault);

// Reads the id of this boot; sets "" if it cannot be read.
void facts_boot_id(const char *root, char *ret, size_t size);
double facts_uptime(const char *root); // seconds since the kernel started
