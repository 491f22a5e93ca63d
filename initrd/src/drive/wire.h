// SPDX-License-Identifier: Apache-2.0
// What the structures of all drives have in common.
#pragma once

#include <stddef.h>
#include <stdint.h>

// A text of `size` bytes, padded with spaces; bytes that cannot be printed become "?". `ret` has one byte more.
static inline void wire_text(char *ret, const uint8_t *from, size_t size) {
	size_t end = 0;

	for (size_t i = 0; i < size && from[i]; i++) {
		ret[i] = from[i] >= ' ' && from[i] < 0x7f ? (char)from[i] : '?';
		if (ret[i] != ' ')
			end = i + 1;
	}
	ret[end] = 0;
}
