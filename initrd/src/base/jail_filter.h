// SPDX-License-Identifier: Apache-2.0
// The system calls that a confined program may use.
#pragma once

// Installs the filter, for this process and what it executes. Async-signal-safe. Returns -errno.
int jail_filter(void);
