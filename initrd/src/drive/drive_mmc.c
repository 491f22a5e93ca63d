// SPDX-License-Identifier: Apache-2.0
// eMMC (JESD84-B51 6.6.9 to 6.6.12). Sanitize removes what is not mapped any more, so all of the user area is trimmed
// or erased first. Boot areas, general purpose partitions and RPMB are other devices.
#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "drive/drive.h"
#include "drive/mmc.h"

#define SECONDS_QUERY 60u
#define SECONDS_SANITIZE (4u * 3600u) // no device states how long it takes
#define LONGEST 4000000u	      // the kernel has the timeout in milliseconds, in 32 bits

// Submits commands in one go. `page` is for the one that reads, if any.
static int submit(struct drive *drive, const char *what, struct mmc_command *commands, unsigned count, void *page,
		  uint64_t seconds, struct fault *fault) {
	int r = drive->ops->mmc(drive, commands, count, page, (uint32_t)(seconds < LONGEST ? seconds : LONGEST));

	if (r < 0)
		return fault_errno(fault, CODE_FAILED, r, "%s: %s", drive->device->name, what);
	for (unsigned i = 0; i < count; i++)
		if (mmc_is_error(commands[i].response))
			return fault_set(fault, CODE_FAILED, "%s: the device answers %s with status 0x%08x",
					 drive->device->name, what, commands[i].response);
	return 0;
}

// Also reports the error of the command before, in the status that comes with it.
static int read_csd(struct drive *drive, const char *what, struct mmc_csd *ret, struct fault *fault) {
	cleanup_free uint8_t *page = device_buffer(MMC_PAGE);
	struct mmc_command command;
	int r;

	if (!page)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "%s", drive->device->name);
	mmc_read_csd(&command);
	r = submit(drive, what, &command, 1, page, SECONDS_QUERY, fault);
	if (r == 0 && mmc_csd_decode(page, MMC_PAGE, ret) < 0)
		r = fault_set(fault, CODE_UNSUPPORTED, "%s is no eMMC of version 4.41 to 5.1", drive->device->name);
	snprintf(drive->reported, sizeof(drive->reported), "%s: status 0x%08x", what, command.response);
	return r;
}

static int probe(struct drive *drive, struct offers *offers, struct fault *fault) {
	struct mmc_csd csd;

	if (read_csd(drive, "EXT_CSD", &csd, fault) < 0)
		return 1;
	*offers = (struct offers){0};
	if (csd.sectors * 512 != drive->device->bytes) {
		snprintf(offers->note, sizeof(offers->note), "the eMMC has %llu bytes, the disk %llu",
			 (unsigned long long)csd.sectors * 512, (unsigned long long)drive->device->bytes);
		return 0;
	}
	if (csd.has_sanitize)
		offers_add(offers, METHOD_MMC_SANITIZE, false, false, SECONDS_SANITIZE);
	if (csd.has_secure_erase)
		offers_add(offers, METHOD_MMC_SECURE_ERASE, false, false,
			   (uint32_t)(csd.secure_seconds < LONGEST ? csd.secure_seconds : LONGEST));
	if (offers->count == 0)
		snprintf(offers->note, sizeof(offers->note), "the eMMC has neither Sanitize nor a secure erase");
	return 0;
}

// None continues after a power cut.
static int settle(struct drive *drive, enum erase_method *ret, struct fault *fault) {
	(void)drive, (void)fault;
	*ret = METHOD_AUTO;
	return 0;
}

static int erase(struct drive *drive, const struct mmc_csd *csd, enum mmc_erase how, uint64_t seconds,
		 struct fault *fault) {
	struct mmc_command commands[3];
	struct mmc_csd after;
	int r;

	mmc_erase(csd, how, commands);
	r = submit(drive, "ERASE", commands, ELEMENTS(commands), NULL, 2 * seconds + 60, fault);
	return r == 0 ? read_csd(drive, "after ERASE", &after, fault) : r;
}

static int run(struct drive *drive, const struct offer *offer, struct fault *fault) {
	struct mmc_command command;
	struct mmc_csd csd;
	int r = read_csd(drive, "EXT_CSD", &csd, fault);

	drive->reported[0] = 0;
	if (r < 0)
		return r;
	if (offer->method == METHOD_MMC_SECURE_ERASE)
		return erase(drive, &csd, MMC_SECURE_ERASE, csd.secure_seconds, fault);
	r = erase(drive, &csd, csd.has_trim ? MMC_TRIM : MMC_ERASE, csd.erase_seconds, fault);
	if (r < 0)
		return r;
	mmc_sanitize(&command);
	r = submit(drive, "SANITIZE_START", &command, 1, NULL, SECONDS_SANITIZE, fault);
	return r == 0 ? read_csd(drive, "after SANITIZE_START", &csd, fault) : r;
}

const struct drive_family drive_mmc = {"mmc-", probe, settle, run};
