// SPDX-License-Identifier: Apache-2.0
// Little-endian numbers in foreign bytes.
#pragma once

#include <stdint.h>

static inline uint32_t get_le32(const uint8_t *p) {
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t get_le64(const uint8_t *p) { return get_le32(p) | (uint64_t)get_le32(p + 4) << 32; }

static inline void put_le32(uint8_t *p, uint32_t n) {
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(n >> (8 * i));
}

static inline void put_le64(uint8_t *p, uint64_t n) {
	put_le32(p, (uint32_t)n);
	put_le32(p + 4, (uint32_t)(n >> 32));
}
