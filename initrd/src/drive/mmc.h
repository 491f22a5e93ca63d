// SPDX-License-Identifier: Apache-2.0
// Wire structures of eMMC: commands, and what a device returns. Pure functions over buffers. Citation: JESD84-B51.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MMC_PAGE 512u // bytes of the extended CSD

struct mmc_command {
	uint32_t opcode, argument;
	bool reads;	   // MMC_PAGE bytes
	bool waits;	   // until the device is not busy any more
	uint32_t response; // status of the device (6.13)
};

enum mmc_erase { // arguments of CMD38 (6.6.9)
	MMC_ERASE = 0x00000000,
	MMC_TRIM = 0x00000001,
	MMC_SECURE_ERASE = 0x80000000,
};

struct mmc_csd {				       // 7.4
	uint64_t sectors;			       // 215:212, of the user area
	uint64_t groups;			       // of erase, from 224
	bool has_secure_erase, has_trim, has_sanitize; // 231, bits 0, 4 and 6
	uint64_t erase_seconds, secure_seconds;	       // the longest that the whole user area takes, from 223 and 230
};

void mmc_read_csd(struct mmc_command *ret);

// Three commands: the first sector, the last, and what is done to all from the one to the other.
void mmc_erase(const struct mmc_csd *csd, enum mmc_erase how, struct mmc_command ret[3]);

// SWITCH of SANITIZE_START: what is not mapped any more is removed from the medium.
void mmc_sanitize(struct mmc_command *ret);

// Returns -EINVAL if the buffer is too short, or what it holds is not of an eMMC of version 4.41 to 5.1.
int mmc_csd_decode(const uint8_t *data, size_t size, struct mmc_csd *ret);

// Returns whether a status has an error, of its command or of the one before it. It is cleared by reading.
bool mmc_is_error(uint32_t response);
