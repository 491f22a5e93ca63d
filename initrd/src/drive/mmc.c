// SPDX-License-Identifier: Apache-2.0
#include "drive/mmc.h"

#include <errno.h>

#include "base/bytes.h"

enum { SWITCH = 6, SEND_EXT_CSD = 8, ERASE_GROUP_START = 35, ERASE_GROUP_END = 36, ERASE = 38 };

#define BYTES_MAX (UINT64_C(2) << 30) // up to that a device is addressed in bytes, above in sectors

// All bits that report an error (6.13, table 68): also WP_ERASE_SKIP, a part that was left out because it is write
// protected. Not bit 25, a device that is locked.
#define ERRORS 0xfdf9a080u

void mmc_read_csd(struct mmc_command *ret) { *ret = (struct mmc_command){.opcode = SEND_EXT_CSD, .reads = true}; }

void mmc_erase(const struct mmc_csd *csd, enum mmc_erase how, struct mmc_command ret[3]) {
	uint32_t unit = csd->sectors * 512 > BYTES_MAX ? 1 : 512;

	ret[0] = (struct mmc_command){.opcode = ERASE_GROUP_START};
	ret[1] = (struct mmc_command){.opcode = ERASE_GROUP_END, .argument = (uint32_t)(csd->sectors - 1) * unit};
	ret[2] = (struct mmc_command){.opcode = ERASE, .argument = (uint32_t)how, .waits = true};
}

void mmc_sanitize(struct mmc_command *ret) {
	// Access "write byte", index 165, value 1, command set 1.
	*ret = (struct mmc_command){.opcode = SWITCH, .argument = 3u << 24 | 165u << 16 | 1u << 8 | 1u, .waits = true};
}

int mmc_csd_decode(const uint8_t *data, size_t size, struct mmc_csd *ret) {
	uint64_t group, seconds;

	if (size < MMC_PAGE || data[192] < 5 || data[192] > 8)
		return -EINVAL;
	*ret = (struct mmc_csd){.sectors = get_le32(data + 212),
				.has_secure_erase = data[231] & 1,
				.has_trim = data[231] & 16,
				.has_sanitize = data[231] & 64};
	group = (uint64_t)(data[224] ? data[224] : 1) * 1024; // sectors: 512 KiB each
	if (ret->sectors == 0)
		return -EINVAL;
	ret->groups = (ret->sectors + group - 1) / group;
	seconds = (ret->groups * (data[223] ? data[223] : 1) * 3 + 9) / 10; // 300 ms each
	ret->erase_seconds = seconds;
	ret->secure_seconds = seconds * (data[230] ? data[230] : 1);
	return 0;
}

bool mmc_is_error(uint32_t response) { return response & ERRORS; }
