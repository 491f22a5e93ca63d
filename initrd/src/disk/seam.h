// SPDX-License-Identifier: Apache-2.0
// In the build for tests (-DSLED_TEST) only, files can replace the chosen disk (SLED_TEST_DISK, joined by ":"), or
// the machine whose disks are chosen from (SLED_TEST_ROOT: its sys, proc, etc and dev). The timeout of an image's
// server can be set (SLED_TEST_IDLE, seconds).
#pragma once

#include <stdbool.h>

#include "disk/device.h"

#ifdef SLED_TEST
bool seam_open(struct device *ret); // the first
unsigned seam_count(void);	    // 0: none is replaced
bool seam_open_at(unsigned number, struct device *ret);
int64_t seam_idle(int64_t usual);
const char *seam_root(void);					  // "": this machine
bool seam_open_node(const struct disk *disk, struct device *ret); // of another machine
#else
static inline bool seam_open(struct device *ret) {
	(void)ret;
	return false;
}
static inline unsigned seam_count(void) { return 0; }
static inline bool seam_open_at(unsigned number, struct device *ret) {
	(void)number, (void)ret;
	return false;
}
static inline int64_t seam_idle(int64_t usual) { return usual; }
static inline const char *seam_root(void) { return ""; }
static inline bool seam_open_node(const struct disk *disk, struct device *ret) {
	(void)disk, (void)ret;
	return false;
}
#endif
