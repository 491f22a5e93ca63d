// SPDX-License-Identifier: Apache-2.0
// What an ATA drive returns. The first byte selects the structure.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "drive/ata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The input is the beginning of the page; the checksum is made right unless bit 7 is set.
static void try_identity(const uint8_t *data, size_t size, bool raw) {
	uint8_t page[ATA_PAGE] = {0}, sum = 0;
	struct ata_identity i;

	memcpy(page, data, size < ATA_PAGE ? size : ATA_PAGE);
	for (unsigned k = 0; k < ATA_PAGE - 1; k++)
		sum = (uint8_t)(sum + page[k]);
	if (!raw)
		page[511] = (uint8_t)-sum;
	if (ata_identity_decode(page, raw && size < ATA_PAGE ? size : ATA_PAGE, &i) < 0)
		return;
	if (strlen(i.model) > 40 || strlen(i.serial) > 20 || strlen(i.firmware) > 8)
		abort();
	for (const char *text = i.model; *text; text++)
		if (*text < ' ' || *text > '~')
			abort();
}

static void try_registers(const uint8_t *data, size_t size) {
	uint8_t *copy = malloc(size + !size); // of the exact size, for the sanitizer
	struct ata_registers r;
	struct ata_sanitize s;

	if (!copy)
		return;
	memcpy(copy, data, size);
	if (ata_registers_decode(copy, size, &r) == 0) {
		ata_sanitize_decode(&r, &s);
		if (r.lba >> 48 || s.progress != (r.lba & 0xffff) || !*ata_sanitize_reason(&r))
			abort();
	}
	free(copy);
}

// As above; byte 510 says that there is a checksum, without which the page is refused.
static void try_overlay(const uint8_t *data, size_t size, bool raw) {
	uint8_t page[ATA_PAGE] = {0}, sum = 0;
	uint64_t last;

	memcpy(page, data, size < ATA_PAGE ? size : ATA_PAGE);
	if (!raw)
		page[510] = 0xa5;
	for (unsigned k = 0; k < ATA_PAGE - 1; k++)
		sum = (uint8_t)(sum + page[k]);
	if (!raw)
		page[511] = (uint8_t)-sum;
	if (ata_overlay_decode(page, ATA_PAGE, &last) < 0) {
		if (!raw)
			abort();
		return;
	}
	if (page[510] != 0xa5 || (uint8_t)(sum + page[511]) != 0 || ata_overlay_decode(page, ATA_PAGE - 1, &last) == 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size < 1)
		return 0;
	if (data[0] & 1)
		try_registers(data + 1, size - 1);
	else if (data[0] & 2)
		try_overlay(data + 1, size - 1, data[0] & 128);
	else
		try_identity(data + 1, size - 1, data[0] & 128);
	return 0;
}
