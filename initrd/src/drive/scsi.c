// SPDX-License-Identifier: Apache-2.0
#include "drive/scsi.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "drive/wire.h"

enum { INQUIRY = 0x12, REQUEST_SENSE = 0x03, SANITIZE = 0x48, MAINTENANCE_IN = 0xa3, REPORT_OPCODES = 0x0c };
enum { NO_SENSE = 0x0, NOT_READY = 0x2, MEDIUM_ERROR = 0x3 };

void scsi_inquiry(struct scsi_command *ret, uint8_t size) {
	*ret = (struct scsi_command){.cdb = {INQUIRY, 0, 0, 0, size}, .size = 6};
}

void scsi_request_sense(struct scsi_command *ret) {
	*ret = (struct scsi_command){.cdb = {REQUEST_SENSE, 0, 0, 0, SCSI_SENSE}, .size = 6};
}

void scsi_report_sanitize(enum scsi_sanitize_action action, uint32_t size, struct scsi_command *ret) {
	*ret = (struct scsi_command){.cdb = {MAINTENANCE_IN, REPORT_OPCODES, 0x80 | 2, SANITIZE, 0, (uint8_t)action,
					     (uint8_t)(size >> 24), (uint8_t)(size >> 16), (uint8_t)(size >> 8),
					     (uint8_t)size},
				     .size = 12};
}

void scsi_sanitize(enum scsi_sanitize_action action, uint16_t parameters, struct scsi_command *ret) {
	*ret = (struct scsi_command){.cdb = {SANITIZE, (uint8_t)(0x80 | action), 0, 0, 0, 0, 0,
					     (uint8_t)(parameters >> 8), (uint8_t)parameters},
				     .size = 10};
}

void scsi_overwrite(uint8_t ret[SCSI_OVERWRITE]) {
	memset(ret, 0, SCSI_OVERWRITE);
	ret[0] = 1; // one pass, not inverted
	ret[3] = 4; // bytes of the pattern that follows
}

int scsi_inquiry_decode(const uint8_t *data, size_t size, struct scsi_inquiry *ret) {
	if (size < 36 || data[4] < 31 || data[0] >> 5)
		return -EINVAL;
	*ret = (struct scsi_inquiry){.is_disk = data[0] == 0x00 || data[0] == 0x14};
	wire_text(ret->vendor, data + 8, 8);
	wire_text(ret->product, data + 16, 16);
	wire_text(ret->revision, data + 32, 4);
	ret->is_ata = !strcmp(ret->vendor, "ATA");
	return 0;
}

// Descriptors of type 2 hold what fixed sense data has in bytes 15 to 17.
static void find_progress(const uint8_t *data, size_t size, struct scsi_sense *ret) {
	size_t end = 8u + data[7] < size ? 8u + data[7] : size;

	for (size_t at = 8; at + 2 <= end; at += 2u + data[at + 1])
		if (data[at] == 2 && data[at + 1] >= 6 && at + 8 <= end && data[at + 4] & 0x80) {
			ret->has_progress = true;
			ret->progress = get_be16(data + at + 5);
			return;
		}
}

int scsi_sense_decode(const uint8_t *data, size_t size, struct scsi_sense *ret) {
	uint8_t format = size ? data[0] & 0x7f : 0;

	*ret = (struct scsi_sense){0};
	if ((format == 0x72 || format == 0x73) && size >= 8) {
		ret->key = data[1] & 15;
		ret->code = data[2];
		ret->qualifier = data[3];
		find_progress(data, size, ret);
		return 0;
	}
	if ((format != 0x70 && format != 0x71) || size < 14 || data[7] < 6)
		return -EINVAL;
	ret->key = data[2] & 15;
	ret->code = data[12];
	ret->qualifier = data[13];
	if (size >= 18 && data[7] >= 10 && data[15] & 0x80) {
		ret->has_progress = true;
		ret->progress = get_be16(data + 16);
	}
	return 0;
}

int scsi_report_decode(const uint8_t *data, size_t size, bool *ret_supported, uint32_t *ret_seconds) {
	size_t at;

	*ret_supported = false;
	*ret_seconds = 0;
	if (size < 4)
		return -EINVAL;
	*ret_supported = (data[1] & 7) == 3; // 5: as the vendor has it, which may be anything
	at = 4u + get_be16(data + 2);	     // behind the usage map of the command
	if (data[1] & 0x80 && at + 12 <= size && get_be16(data + at) >= 10)
		*ret_seconds = get_be32(data + at + 8);
	return 0;
}

enum scsi_state scsi_state(const struct scsi_sense *sense) {
	if (sense->key == NOT_READY && sense->code == 0x04 && sense->qualifier == 0x1b)
		return SCSI_RUNNING;
	if (sense->key == MEDIUM_ERROR && sense->code == 0x31 && sense->qualifier == 0x03)
		return SCSI_FAILED;
	return sense->key == NO_SENSE ? SCSI_IDLE : SCSI_UNKNOWN;
}
