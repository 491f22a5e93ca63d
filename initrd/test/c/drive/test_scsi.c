// SPDX-License-Identifier: Apache-2.0
// Wire structures of SCSI. The bytes of commands are those that sg_sanitize and sg_opcodes send.
#include <errno.h>
#include <stdio.h>

#include "base/bytes.h"
#include "command_text.h"
#include "tap.h"

static struct scsi_command command;

static void test_commands(void) {
	uint8_t overwrite[SCSI_OVERWRITE];

	scsi_inquiry(&command, 96);
	same(command_text(&command), "12 00 00 00 60 00 ", "INQUIRY");
	scsi_request_sense(&command);
	same(command_text(&command), "03 00 00 00 fc 00 ", "REQUEST SENSE");
	scsi_report_sanitize(SCSI_SANITIZE_CRYPTO, 256, &command);
	same(command_text(&command), "a3 0c 82 48 00 03 00 00 01 00 00 00 ", "REPORT SUPPORTED OPERATION CODES");
	scsi_sanitize(SCSI_SANITIZE_BLOCK, 0, &command);
	same(command_text(&command), "48 82 00 00 00 00 00 00 00 00 ", "SANITIZE, block erase, at once");
	scsi_sanitize(SCSI_SANITIZE_CRYPTO, 0, &command);
	same(command_text(&command), "48 83 00 00 00 00 00 00 00 00 ", "SANITIZE, crypto erase");
	scsi_sanitize(SCSI_SANITIZE_OVERWRITE, sizeof(overwrite), &command);
	same(command_text(&command), "48 81 00 00 00 00 00 00 08 00 ", "SANITIZE, overwrite");
	scsi_overwrite(overwrite);
	ok(get_be32(overwrite) == 0x01000004 && get_be32(overwrite + 4) == 0, "one pass of a pattern of four zeros");
}

static void test_inquiry(void) {
	uint8_t data[96] = {0, 0, 7, 2, 91};
	struct scsi_inquiry i;

	memcpy(data + 8, "SEAGATE ST1800MM0129    CT02", 28);
	ok(scsi_inquiry_decode(data, sizeof(data), &i) == 0 && i.is_disk && !i.is_ata, "a disk");
	same(i.vendor, "SEAGATE", "vendor");
	same(i.product, "ST1800MM0129", "product");
	same(i.revision, "CT02", "revision");
	memcpy(data + 8, "ATA     ", 8);
	ok(scsi_inquiry_decode(data, sizeof(data), &i) == 0 && i.is_ata, "behind a translation layer");
	data[0] = 5;
	ok(scsi_inquiry_decode(data, sizeof(data), &i) == 0 && !i.is_disk, "an optical drive");
	data[0] = 0x20;
	ok(scsi_inquiry_decode(data, sizeof(data), &i) == -EINVAL, "a unit that is not there");
	data[0] = 0;
	data[4] = 30;
	ok(scsi_inquiry_decode(data, sizeof(data), &i) == -EINVAL && scsi_inquiry_decode(data, 35, &i) == -EINVAL,
	   "short ones");
}

static void test_sense(void) {
	uint8_t fixed[18] = {0x70, 0, 2, 0, 0, 0, 0, 10, 0, 0, 0, 0, 4, 0x1b, 0, 0x80, 0x02, 0x8f};
	uint8_t descriptors[24] = {0x72, 2, 4, 0x1b, 0, 0, 0, 16, 0,	6,    0,    0,
				   0,	 0, 0, 0,    2, 6, 0, 0,  0x80, 0x12, 0x34, 0};
	struct scsi_sense s;

	ok(scsi_sense_decode(fixed, sizeof(fixed), &s) == 0 && scsi_state(&s) == SCSI_RUNNING && s.progress == 655,
	   "at work, 655");
	ok(scsi_sense_decode(descriptors, sizeof(descriptors), &s) == 0 && scsi_state(&s) == SCSI_RUNNING &&
		   s.progress == 0x1234,
	   "the same in descriptors");
	ok(scsi_sense_decode(descriptors, 20, &s) == 0 && !s.has_progress, "a descriptor that is cut");
	descriptors[9] = 255;
	ok(scsi_sense_decode(descriptors, sizeof(descriptors), &s) == 0 && !s.has_progress, "a length behind the end");
	fixed[15] = 0;
	ok(scsi_sense_decode(fixed, sizeof(fixed), &s) == 0 && !s.has_progress, "without progress");
	fixed[2] = 3, fixed[12] = 0x31, fixed[13] = 3;
	ok(scsi_sense_decode(fixed, sizeof(fixed), &s) == 0 && scsi_state(&s) == SCSI_FAILED, "failed");
	fixed[2] = 6, fixed[12] = 0x29, fixed[13] = 0;
	ok(scsi_sense_decode(fixed, sizeof(fixed), &s) == 0 && scsi_state(&s) == SCSI_UNKNOWN, "a unit attention");
	fixed[2] = 0, fixed[12] = 0;
	ok(scsi_sense_decode(fixed, sizeof(fixed), &s) == 0 && scsi_state(&s) == SCSI_IDLE, "at rest");
	fixed[0] = 0;
	ok(scsi_sense_decode(fixed, sizeof(fixed), &s) == -EINVAL && scsi_sense_decode(fixed, 0, &s) == -EINVAL,
	   "no sense data");
}

static void test_report(void) {
	uint8_t data[64] = {0, 0x83, 0, 10};
	uint32_t seconds;
	bool supported;

	data[14 + 1] = 10;
	data[14 + 10] = 0x0e;
	data[14 + 11] = 0x10;
	ok(scsi_report_decode(data, sizeof(data), &supported, &seconds) == 0 && supported && seconds == 3600,
	   "supported, with its time");
	ok(scsi_report_decode(data, 25, &supported, &seconds) == 0 && supported && seconds == 0, "cut: without");
	data[1] = 3;
	ok(scsi_report_decode(data, sizeof(data), &supported, &seconds) == 0 && supported && seconds == 0, "without");
	data[1] = 0x85;
	ok(scsi_report_decode(data, sizeof(data), &supported, &seconds) == 0 && !supported, "as the vendor has it");
	data[1] = 1;
	ok(scsi_report_decode(data, sizeof(data), &supported, &seconds) == 0 && !supported, "not supported");
	ok(scsi_report_decode(data, 3, &supported, &seconds) == -EINVAL, "a short one");
}

int main(void) {
	test_commands();
	test_inquiry();
	test_sense();
	test_report();
	return tap_done();
}
