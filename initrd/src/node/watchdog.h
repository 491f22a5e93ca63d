// SPDX-License-Identifier: Apache-2.0
// Hardware watchdogs, identified by the kernel module of their driver.
#pragma once

#include <stddef.h>

#include "base/fault.h"

// Finds the device of a driver's watchdog, such as /dev/watchdog0. Returns an error of code 3 if the driver has
// found no hardware.
int watchdog_find(const char *root, const char *driver, char *ret, size_t size, struct fault *fault);

// Arms it, and returns the timeout that it accepted. It keeps running after this process ends.
int watchdog_arm(const char *device, int seconds, int *ret_seconds, struct fault *fault);

// Stops it. Returns 1 if another process uses it, and an error of code 3 if it cannot be stopped (nowayout): then it
// is not touched.
int watchdog_stop(const char *root, const char *device, struct fault *fault);
