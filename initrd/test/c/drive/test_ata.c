// SPDX-License-Identifier: Apache-2.0
// Wire structures of ATA. The bytes of commands are those that hdparm sends.
#include <errno.h>
#include <stdio.h>

#include "ata_pages.h"
#include "command_text.h"
#include "drive/sanitize.h"
#include "tap.h"

static uint8_t page[ATA_PAGE];
static struct scsi_command command;

static void test_commands(void) {
	ata_identify(&command);
	same(command_text(&command), "85 08 0e 00 00 00 01 00 00 00 00 00 00 40 ec 00 ", "IDENTIFY DEVICE");
	ata_sanitize(ATA_SANITIZE_STATUS, &command);
	same(command_text(&command), "85 07 20 00 00 00 00 00 00 00 00 00 00 40 b4 00 ", "SANITIZE STATUS EXT");
	ata_sanitize(ATA_SANITIZE_CRYPTO, &command);
	same(command_text(&command), "85 07 20 00 11 00 00 43 70 00 79 00 72 40 b4 00 ",
	     "CRYPTO SCRAMBLE EXT, \"Cryp\"");
	ata_sanitize(ATA_SANITIZE_BLOCK, &command);
	same(command_text(&command), "85 07 20 00 12 00 00 42 72 00 45 00 6b 40 b4 00 ", "BLOCK ERASE EXT, \"BkEr\"");
	ata_sanitize(ATA_SANITIZE_OVERWRITE, &command);
	same(command_text(&command), "85 07 20 00 14 00 01 00 00 57 00 4f 00 40 b4 00 ",
	     "OVERWRITE EXT, \"OW\", one pass");
	ata_native_max(true, &command);
	same(command_text(&command), "85 07 20 00 00 00 00 00 00 00 00 00 00 40 27 00 ", "READ NATIVE MAX ADDRESS EXT");
	ata_native_max(false, &command);
	same(command_text(&command), "85 07 20 00 00 00 00 00 00 00 00 00 00 40 f8 00 ", "READ NATIVE MAX ADDRESS");
	ata_accessible_max(&command);
	same(command_text(&command), "85 07 20 00 00 00 00 00 00 00 00 00 00 40 78 00 ", "GET NATIVE MAX ADDRESS EXT");
	ata_set_max(0x123456789abc, &command);
	same(command_text(&command), "85 07 20 00 00 00 00 56 bc 34 9a 12 78 40 37 00 ",
	     "SET MAX ADDRESS EXT, volatile");
	ata_overlay(&command);
	same(command_text(&command), "85 08 0e 00 c2 00 01 00 00 00 00 00 00 40 b1 00 ", "DCO IDENTIFY");
	ata_check_power(&command);
	same(command_text(&command), "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00 ", "CHECK POWER MODE");
	ata_security(ATA_SECURITY_SET, &command);
	same(command_text(&command), "85 0a 06 00 00 00 01 00 00 00 00 00 00 40 f1 00 ", "SECURITY SET PASSWORD");
	ata_security(ATA_SECURITY_PREPARE, &command);
	same(command_text(&command), "85 06 20 00 00 00 00 00 00 00 00 00 00 40 f3 00 ", "SECURITY ERASE PREPARE");
	ata_security_data(true, page);
	ok(page[0] == 2 && page[1] == 0 && !memcmp(page + 2, "sled", 5) && is_zero(page + 6, ATA_PAGE - 6),
	   "the user's password, level high, enhanced");
	ata_security_data(false, page);
	ok(page[0] == 0, "not enhanced");
}

static void test_identity(void) {
	struct ata_identity i;

	page_identity(page, 0xb000, 0, 0, 0);
	ok(ata_identity_decode(page, sizeof(page), &i) == 0 && i.has_sanitize && i.sanitize_crypto &&
		   i.sanitize_block && !i.sanitize_overwrite,
	   "word 59");
	same(i.model, "SSD 9", "model, whose bytes are exchanged");
	same(i.serial, "S1", "serial number");
	same(i.firmware, "1.0", "firmware");
	page_identity(page, 0, 2, 2, 0x2d);
	ok(ata_identity_decode(page, sizeof(page), &i) == 0 && !i.has_sanitize && i.has_security && i.is_enabled &&
		   i.is_locked && i.is_frozen,
	   "words 82, 85 and 128");
	ok(i.is_expired == false && i.has_enhanced && i.erase_seconds == SANITIZE_UNKNOWN, "word 128, and no estimate");
	page_word(page, 89, 2);
	page_word(page, 90, 0x8400);
	ok(ata_identity_decode(page, sizeof(page), &i) == 0 && i.erase_seconds == 240 &&
		   i.enhanced_seconds == 1024 * 120,
	   "estimates of both forms");
	page_word(page, 89, 255);
	page_word(page, 90, 0xffff);
	ok(ata_identity_decode(page, sizeof(page), &i) == 0 && i.erase_seconds == SANITIZE_UNKNOWN &&
		   i.enhanced_seconds == SANITIZE_UNKNOWN,
	   "more than it can state");
	page[100] ^= 1;
	ok(ata_identity_decode(page, sizeof(page), &i) == -EINVAL, "a wrong checksum");
	page[510] = 0;
	ok(ata_identity_decode(page, sizeof(page), &i) == 0, "none");
	page[1] = 0x80;
	ok(ata_identity_decode(page, sizeof(page), &i) == -EINVAL, "an ATAPI drive");
	memset(page, 0, sizeof(page));
	ok(ata_identity_decode(page, sizeof(page), &i) == -EINVAL && ata_identity_decode(page, 511, &i) == -EINVAL,
	   "zeros, and a short one");
}

static void test_registers(void) {
	uint8_t sense[64];
	struct ata_registers r;
	struct ata_sanitize s;

	page_registers(sense, 0x50, 0, 0x4000, 0x123456789abc);
	ok(ata_registers_decode(sense, sizeof(sense), &r) == 0 && r.status == 0x50 && r.count == 0x4000 &&
		   r.lba == 0x123456789abc && !ata_is_error(&r),
	   "all registers");
	ata_sanitize_decode(&r, &s);
	ok(s.is_running && !s.is_done && !s.is_frozen && s.progress == 0x9abc, "at work");
	page_registers(sense, 0x51, 4, 0xa000, 3);
	ok(ata_registers_decode(sense, sizeof(sense), &r) == 0 && ata_is_error(&r), "an error");
	ata_sanitize_decode(&r, &s);
	ok(s.is_done && s.is_frozen, "done, and frozen");
	ok(strstr(ata_sanitize_reason(&r), "power the drive off and on") != NULL, "the reason: %s",
	   ata_sanitize_reason(&r));
	r.lba = 0xff;
	ok(strstr(ata_sanitize_reason(&r), "unknown") != NULL, "a reason that is not known");
	ok(ata_registers_decode(sense, 21, &r) == -ENOENT && ata_registers_decode(sense, 3, &r) == -ENOENT, "cut");
	sense[9] = 11;
	ok(ata_registers_decode(sense, sizeof(sense), &r) == -ENOENT, "a short descriptor");
	sense[0] = 0x70;
	ok(ata_registers_decode(sense, sizeof(sense), &r) == -ENOENT, "the fixed format has no room for them");
}

int main(void) {
	test_commands();
	test_identity();
	test_registers();
	return tap_done();
}
