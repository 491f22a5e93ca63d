// SPDX-License-Identifier: Apache-2.0
#include "image/gap_frame.h"

#include <string.h>

#include "base/bytes.h"

#define RUN ((uint64_t)1 << 17) // bytes of one block of a gap frame: the most that zstd allows
#define GAP_HEAD 10u

static uint64_t gap_frame_size(uint64_t size) { return GAP_HEAD + 4 * ((size + RUN - 1) / RUN); }

uint64_t gap_size(uint64_t size) {
	uint64_t rest = size % GAP_MAX;
	return size / GAP_MAX * gap_frame_size(GAP_MAX) + (rest ? gap_frame_size(rest) : 0);
}

size_t gap_write(uint64_t size, uint8_t *ret) {
	uint64_t left = size < GAP_MAX ? size : GAP_MAX;
	uint8_t *p = ret + GAP_HEAD;

	memcpy(ret, "\x28\xb5\x2f\xfd\x80\x38", 6);
	put_le32(ret + 6, (uint32_t)left);
	for (uint64_t run; left > 0; left -= run, p += 4) {
		run = left < RUN ? left : RUN;
		// the fourth byte, 0, is the byte to repeat
		put_le32(p, (uint32_t)(run << 3) | 1u << 1 | (run == left));
	}
	return (size_t)(p - ret);
}
