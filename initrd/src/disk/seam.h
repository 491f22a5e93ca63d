// SPDX-License-Identifier: Apache-2.0
// Only in the build for tests (-DSLED_TEST) can a file stand for the disk: SLED_TEST_DISK names it.
#pragma once

#include <stdbool.h>

#include "disk/device.h"

#ifdef SLED_TEST
bool seam_open(struct device *ret);
#else
static inline bool seam_open(struct device *ret) {
	(void)ret;
	return false;
}
#endif
