// SPDX-License-Identifier: Apache-2.0
// What drives return, made from fields: for tests and for the double of a drive.
#pragma once

#include <string.h>

#include "base/bytes.h"
#include "drive/nvme.h"

static inline void page_text(uint8_t *at, const char *text, size_t size) {
	memset(at, ' ', size);
	memcpy(at, text, strlen(text));
}

// Identify Controller (NVMe 2.0, figure 275).
static inline void page_controller(uint8_t page[NVME_PAGE], unsigned oacs, unsigned fna, uint32_t sanicap,
				   unsigned cmic, uint32_t nn) {
	memset(page, 0, NVME_PAGE);
	put_le16(page, 0x144d);
	page_text(page + 4, "S1", 20);
	page_text(page + 24, "MODEL 9", 40);
	page[76] = (uint8_t)cmic;
	put_le16(page + 256, oacs);
	put_le32(page + 328, sanicap);
	put_le32(page + 516, nn);
	page[524] = (uint8_t)fna;
	memcpy(page + 768, "nqn.2014.08.org.example:S1", 26);
}

// Identify Namespace (NVM 1.0, figure 97): two formats, of 512 and 4,096 bytes.
static inline void page_namespace(uint8_t page[NVME_PAGE], uint64_t blocks, unsigned flbas, unsigned dps) {
	memset(page, 0, NVME_PAGE);
	put_le64(page, blocks);
	put_le64(page + 8, blocks);
	page[25] = 1;
	page[26] = (uint8_t)flbas;
	page[29] = (uint8_t)dps;
	put_le32(page + 128, 9u << 16);
	put_le32(page + 132, 12u << 16);
}

// Sanitize Status (NVMe 2.0, figure 241).
static inline void page_sanitize(uint8_t page[NVME_LOG], unsigned progress, unsigned status, uint32_t command,
				 uint32_t overwrite, uint32_t block, uint32_t crypto) {
	memset(page, 0, NVME_LOG);
	put_le16(page, progress);
	put_le16(page + 2, status);
	put_le32(page + 4, command);
	put_le32(page + 8, overwrite);
	put_le32(page + 12, block);
	put_le32(page + 16, crypto);
	put_le32(page + 20, NVME_ALL);
	put_le32(page + 24, NVME_ALL);
	put_le32(page + 28, NVME_ALL);
}
