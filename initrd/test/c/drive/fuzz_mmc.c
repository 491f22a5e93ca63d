// SPDX-License-Identifier: Apache-2.0
// The extended CSD that an eMMC returns. What is accepted can be used in commands.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "drive/mmc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The last sector, in bytes or in sectors as the device is addressed, fits into the argument.
static void try_commands(const struct mmc_csd *csd) {
	struct mmc_command commands[3];
	uint64_t unit = csd->sectors > UINT64_C(4) << 20 ? 1 : 512;

	mmc_erase(csd, MMC_SECURE_ERASE, commands);
	if (commands[0].argument != 0 || commands[1].argument != (csd->sectors - 1) * unit ||
	    commands[2].argument != MMC_SECURE_ERASE)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	uint8_t *page;
	struct mmc_csd csd;
	bool is_short;

	if (size < 1)
		return 0;
	// The input is the end of the page, from byte 192 on; with bit 7 it is all that there is.
	is_short = data[0] & 128;
	page = calloc(1, is_short ? size : MMC_PAGE); // of the exact size, for the sanitizer
	if (!page)
		return 0;
	if (is_short)
		memcpy(page, data + 1, size - 1);
	else
		memcpy(page + 192, data + 1, size - 1 < MMC_PAGE - 192 ? size - 1 : MMC_PAGE - 192);
	if (mmc_csd_decode(page, is_short ? size - 1 : MMC_PAGE, &csd) == 0) {
		if (csd.sectors == 0 || csd.groups == 0 || csd.groups > csd.sectors ||
		    csd.secure_seconds < csd.erase_seconds)
			abort();
		try_commands(&csd);
	}
	free(page);
	return 0;
}
