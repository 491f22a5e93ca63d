// SPDX-License-Identifier: Apache-2.0
// Only in the build for tests (-DSLED_TEST) can a file stand for the disk (SLED_TEST_DISK names it), and can the wait
// for an image's server be made short (SLED_TEST_IDLE, seconds).
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
