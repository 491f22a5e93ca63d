// SPDX-License-Identifier: Apache-2.0
// What ATA drives return, made from fields: for tests and for the double of a drive.
#pragma once

#include <string.h>

#include "base/bytes.h"
#include "drive/ata.h"

static inline void page_words(uint8_t *page, unsigned from, const char *text, size_t size) {
	for (size_t i = 0; i < size; i++)
		page[2 * from + (i ^ 1)] = (uint8_t)(i < strlen(text) ? text[i] : ' ');
}

// IDENTIFY DEVICE (ACS-4, table 45), with its checksum.
static inline void page_identity(uint8_t page[ATA_PAGE], unsigned word59, unsigned word82, unsigned word85,
				 unsigned word128) {
	uint8_t sum = 0;

	memset(page, 0, ATA_PAGE);
	page_words(page, 10, "S1", 20);
	page_words(page, 23, "1.0", 8);
	page_words(page, 27, "SSD 9", 40);
	put_le16(page + 118, word59);
	put_le16(page + 164, word82);
	put_le16(page + 170, word85);
	put_le16(page + 256, word128);
	page[510] = 0xa5;
	for (unsigned i = 0; i < ATA_PAGE - 1; i++)
		sum = (uint8_t)(sum + page[i]);
	page[511] = (uint8_t)-sum;
}

// Sets one word of it, and makes the checksum right again.
static inline void page_word(uint8_t page[ATA_PAGE], unsigned number, unsigned value) {
	for (unsigned i = 0; i < 2; i++)
		page[511] = (uint8_t)(page[511] + page[2 * number + i]);
	put_le16(page + 2 * number, value);
	for (unsigned i = 0; i < 2; i++)
		page[511] = (uint8_t)(page[511] - page[2 * number + i]);
}

// Sense data with the registers (SAT-4 12.2.7), as libata makes it.
static inline void page_registers(uint8_t sense[22], uint8_t status, uint8_t error, unsigned count, uint64_t lba) {
	uint8_t made[22] = {0x72, 1, 0, 0x1d, 0, 0, 0, 14, 9, 12, 1, error, (uint8_t)(count >> 8), (uint8_t)count};

	made[14] = (uint8_t)(lba >> 24);
	made[15] = (uint8_t)lba;
	made[16] = (uint8_t)(lba >> 32);
	made[17] = (uint8_t)(lba >> 8);
	made[18] = (uint8_t)(lba >> 40);
	made[19] = (uint8_t)(lba >> 16);
	made[20] = 0x40;
	made[21] = status;
	memcpy(sense, made, sizeof(made));
}
