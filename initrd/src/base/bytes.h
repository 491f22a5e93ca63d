// SPDX-License-Identifier: Apache-2.0
// Numbers in foreign bytes, little-endian or big-endian; powers of two; runs of zeros.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool is_zero(const uint8_t *data, size_t size) {
	return size == 0 || (data[0] == 0 && memcmp(data, data + 1, size - 1) == 0);
}

static inline bool is_power_of_two(uint32_t n) { return n && !(n & (n - 1)); }

static inline uint32_t get_le16(const uint8_t *p) { return (uint32_t)(p[0] | p[1] << 8); }

static inline uint16_t get_be16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }

static inline uint32_t get_be32(const uint8_t *p) {
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t get_be64(const uint8_t *p) { return (uint64_t)get_be32(p) << 32 | get_be32(p + 4); }

static inline uint32_t get_le32(const uint8_t *p) {
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t get_le64(const uint8_t *p) { return get_le32(p) | (uint64_t)get_le32(p + 4) << 32; }

static inline void put_le16(uint8_t *p, uint32_t n) {
	p[0] = (uint8_t)n;
	p[1] = (uint8_t)(n >> 8);
}

static inline void put_le32(uint8_t *p, uint32_t n) {
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(n >> (8 * i));
}

static inline void put_le64(uint8_t *p, uint64_t n) {
	put_le32(p, (uint32_t)n);
	put_le32(p + 4, (uint32_t)(n >> 32));
}
