// SPDX-License-Identifier: Apache-2.0
#include "drive/ata_submit.h"

#include <errno.h>

#include "base/cleanup.h"

enum { CHECK_CONDITION = 0x02, ILLEGAL_REQUEST = 0x5 };

int ata_submit(struct drive *drive, const char *what, const struct scsi_command *command, void *data, int size,
	       uint32_t seconds, struct ata_registers *ret, struct fault *fault) {
	struct scsi_sense sense = {0};
	uint8_t raw[SCSI_SENSE] = {0};
	int r = drive->ops->scsi(drive, command, data, size, raw, seconds);

	*ret = (struct ata_registers){0};
	if (r < 0)
		return fault_errno(fault, CODE_FAILED, r, "%s: %s", drive->device->name, what);
	if (r == 0 && size != 0)
		return 0; // data without registers: they were not requested
	if (r == CHECK_CONDITION && ata_registers_decode(raw, sizeof(raw), ret) == 0)
		return ata_is_error(ret);
	(void)scsi_sense_decode(raw, sizeof(raw), &sense);
	return fault_set(fault, r == 0 || sense.key == ILLEGAL_REQUEST ? CODE_UNSUPPORTED : CODE_FAILED,
			 "%s: %s: the controller returns no registers of the drive (status 0x%02x, sense key 0x%x, "
			 "code 0x%02x/0x%02x)",
			 drive->device->name, what, (unsigned)r, sense.key, sense.code, sense.qualifier);
}

int ata_read_identity(struct drive *drive, struct ata_identity *ret, struct fault *fault) {
	cleanup_free uint8_t *page = device_buffer(ATA_PAGE);
	struct ata_registers registers;
	struct scsi_command command;
	int r;

	if (!page)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "%s", drive->device->name);
	ata_identify(&command);
	r = ata_submit(drive, "IDENTIFY DEVICE", &command, page, ATA_PAGE, ATA_SECONDS, &registers, fault);
	if (r < 0)
		return r;
	if (r > 0 || ata_identity_decode(page, ATA_PAGE, ret) < 0)
		return fault_set(fault, CODE_FAILED, "%s: what the drive returns for IDENTIFY DEVICE is malformed",
				 drive->device->name);
	return 0;
}

bool ata_is_drive(struct drive *drive) {
	struct scsi_command command;
	struct scsi_inquiry inquiry;
	uint8_t data[96] = {0}, sense[SCSI_SENSE];

	scsi_inquiry(&command, sizeof(data));
	return drive->ops->scsi(drive, &command, data, sizeof(data), sense, ATA_SECONDS) == 0 &&
	       scsi_inquiry_decode(data, sizeof(data), &inquiry) == 0 && inquiry.is_disk && inquiry.is_ata;
}
