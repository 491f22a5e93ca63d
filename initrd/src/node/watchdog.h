// SPDX-License-Identifier: Apache-2.0
// Hardware watchdogs, by the name of their driver's module.
#pragma once

#include <stddef.h>

#include "base/fault.h"

// The device of the watchdog that a driver drives, as in /dev/watchdog0. CODE_UNSUPPORTED: the driver has found no
// hardware.
int watchdog_find(const char *root, const char *driver, char *ret, size_t size, struct fault *fault);

// Lets it run with that time, and gives the time that it took. It stays running when this process is gone.
int watchdog_arm(const char *device, int seconds, int *ret_seconds, struct fault *fault);

// Stops it. CODE_UNSUPPORTED: it is one that cannot be stopped (nowayout); then it is not touched. In use by somebody
// else: left to them, 1.
int watchdog_stop(const char *root, const char *device, struct fault *fault);
