// SPDX-License-Identifier: Apache-2.0
// In the build for tests (-DSLED_TEST) only, a file can replace the disk (SLED_TEST_DISK), and the timeout of an
// image's server can be set (SLED_TEST_IDLE, seconds).
#pragma once

#include <stdbool.h>

#include "disk/device.h"

#ifdef SLED_TEST
bool seam_open(struct device *ret);
int64_t seam_idle(int64_t usual);
#else
static inline bool seam_open(struct device *ret) {
	(void)ret;
	return false;
}
static inline int64_t seam_idle(int64_t usual) { return usual; }
#endif
