// SPDX-License-Identifier: Apache-2.0
// Hardware watchdogs, identified by the kernel module of their driver.
#pragma once

#include <stddef.h>

#include "base/fault.h"

// The device of a driver's watchdog, such as /dev/watchdog0. CODE_UNSUPPORTED: the driver has found no hardware.
int watchdog_find(const char *root, const char *driver, char *ret, size_t size, struct fault *fault);

// Arms it, and returns the timeout that it accepted. It keeps running after this process ends.
int watchdog_arm(const char *device, int seconds, int *ret_seconds, struct fault *fault);

// Stops it. CODE_UNSUPPORTED: it cannot be stopped (nowayout), and is not touched. 1: another process uses it, and it
// is not touched.
int watchdog_stop(const char *root, const char *device, struct fault *fault);
