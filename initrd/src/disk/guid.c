// SPDX-License-Identifier: Apache-2.0
#include "disk/guid.h"

#include <stdio.h>

// Where each byte of the text is in the GUID.
static const uint8_t order[GUID_BYTES] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};

static uint8_t digit(char c) { return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10); }

void guid_parse(const char *text, uint8_t ret[GUID_BYTES]) {
	for (unsigned i = 0; i < GUID_BYTES; i++, text += 2) {
		text += *text == '-';
		ret[order[i]] = (uint8_t)(digit(text[0]) << 4 | digit(text[1]));
	}
}

void guid_write(const uint8_t guid[GUID_BYTES], char ret[GUID_TEXT]) {
	for (unsigned i = 0; i < GUID_BYTES; i++)
		ret += snprintf(ret, 4, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", guid[order[i]]);
}

void guid_of_hash(const uint8_t *hash, uint8_t ret[GUID_BYTES]) {
	for (unsigned i = 0; i < GUID_BYTES; i++)
		ret[order[i]] = hash[i];
	ret[order[6]] = (uint8_t)((hash[6] & 0x0f) | 0x80);
	ret[order[8]] = (uint8_t)((hash[8] & 0x3f) | 0x80);
}
