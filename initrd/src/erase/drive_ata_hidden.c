// SPDX-License-Identifier: Apache-2.0
// Areas of ATA drives that cannot be addressed: a host protected area (HPA, ACS-2 4.11), a device configuration overlay
// (DCO, ACS-2 4.7), an accessible maximum address (AMAC, ACS-4 4.3).
#include "base/cleanup.h"
#include "erase/drive_ata.h"

#define SECTORS_MAX ((UINT64_C(1) << 48) - 1) // what registers hold; anything above is no answer

// Sectors up to the last one that a command returns; 0: it returns none.
static uint64_t ask(struct drive *drive, const char *what, const struct scsi_command *command) {
	struct ata_registers registers;
	struct fault ignored;

	if (ata_submit(drive, what, command, NULL, 0, ATA_SECONDS, &registers, &ignored) != 0)
		return 0;
	return registers.lba + 1;
}

static uint64_t ask_overlay(struct drive *drive) {
	cleanup_free uint8_t *page = device_buffer(ATA_PAGE);
	struct ata_registers registers;
	struct scsi_command command;
	struct fault ignored;
	uint64_t last;

	ata_overlay(&command);
	if (!page || ata_submit(drive, "DEVICE CONFIGURATION IDENTIFY", &command, page, ATA_PAGE, ATA_SECONDS,
				&registers, &ignored) != 0 ||
	    ata_overlay_decode(page, ATA_PAGE, &last) < 0)
		return 0;
	return last + 1;
}

uint64_t ata_hidden(struct drive *drive, const struct ata_identity *identity, const char **ret_by) {
	struct {
		bool has;
		const char *by;
		uint64_t sectors;
	} found[] = {{identity->has_area, "a host protected area (HPA)", 0},
		     {identity->has_amac, "an accessible maximum address (AMAC)", 0},
		     {identity->has_overlay, "a device configuration overlay (DCO)", 0}};
	struct scsi_command native, accessible;
	uint64_t most = identity->sectors;

	ata_native_max(identity->has_long, &native);
	ata_accessible_max(&accessible);
	found[0].sectors = found[0].has ? ask(drive, "READ NATIVE MAX ADDRESS", &native) : 0;
	found[1].sectors = found[1].has ? ask(drive, "GET NATIVE MAX ADDRESS EXT", &accessible) : 0;
	found[2].sectors = found[2].has ? ask_overlay(drive) : 0;
	for (unsigned i = 0; i < ELEMENTS(found); i++)
		if (found[i].sectors > most && found[i].sectors <= SECTORS_MAX) {
			most = found[i].sectors;
			*ret_by = found[i].by;
		}
	return most - identity->sectors;
}
