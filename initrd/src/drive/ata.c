// SPDX-License-Identifier: Apache-2.0
#include "drive/ata.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "drive/sanitize.h"
#include "drive/wire.h"

enum { PASS_THROUGH = 0x85, IDENTIFY = 0xec, SANITIZE = 0xb4, CHECK_POWER = 0xe5 };
enum { NATIVE_MAX = 0xf8, NATIVE_MAX_EXT = 0x27, ACCESSIBLE_MAX = 0x78, CONFIGURATION = 0xb1, SET_MAX_EXT = 0x37 };
enum { DEVICE = 0x40 }; // the register: LBA
enum { NON_DATA = 3 << 1, PIO_IN = 4 << 1, PIO_OUT = 5 << 1, EXTEND = 1 };
enum { CHECK = 0x20, FROM_DRIVE = 0x08, BLOCKS = 0x04, IN_COUNT = 0x02 }; // CK_COND, T_DIR, BYT_BLOK, T_LENGTH

void ata_identify(struct scsi_command *ret) {
	*ret = (struct scsi_command){
		.cdb = {PASS_THROUGH, PIO_IN, FROM_DRIVE | BLOCKS | IN_COUNT, 0, 0, 0, 1, [13] = DEVICE, IDENTIFY},
		.size = 16};
}

// The key of each operation is in the LBA, so that no stray command erases a drive.
void ata_sanitize(enum ata_sanitize_feature feature, struct scsi_command *ret) {
	uint64_t lba = feature == ATA_SANITIZE_CRYPTO	   ? 0x43727970	    // "Cryp"
		       : feature == ATA_SANITIZE_BLOCK	   ? 0x426b4572	    // "BkEr"
		       : feature == ATA_SANITIZE_OVERWRITE ? 0x4f5700000000 // "OW", and the pattern
							   : 0;
	uint8_t passes = feature == ATA_SANITIZE_OVERWRITE ? 1 : 0;

	*ret = (struct scsi_command){.cdb = {PASS_THROUGH, NON_DATA | EXTEND, CHECK, (uint8_t)(feature >> 8),
					     (uint8_t)feature, 0, passes, (uint8_t)(lba >> 24), (uint8_t)lba,
					     (uint8_t)(lba >> 32), (uint8_t)(lba >> 8), (uint8_t)(lba >> 40),
					     (uint8_t)(lba >> 16), DEVICE, SANITIZE},
				     .size = 16};
}

void ata_native_max(bool is_long, struct scsi_command *ret) {
	*ret = (struct scsi_command){
		.cdb = {PASS_THROUGH, NON_DATA | EXTEND, CHECK, [13] = DEVICE, is_long ? NATIVE_MAX_EXT : NATIVE_MAX},
		.size = 16};
}

void ata_accessible_max(struct scsi_command *ret) { // feature 0: GET NATIVE MAX ADDRESS EXT
	*ret = (struct scsi_command){.cdb = {PASS_THROUGH, NON_DATA | EXTEND, CHECK, [13] = DEVICE, ACCESSIBLE_MAX},
				     .size = 16};
}

void ata_set_max(uint64_t last, struct scsi_command *ret) { // count 0: volatile
	*ret = (struct scsi_command){.cdb = {PASS_THROUGH, NON_DATA | EXTEND, CHECK, 0, 0, 0, 0, (uint8_t)(last >> 24),
					     (uint8_t)last, (uint8_t)(last >> 32), (uint8_t)(last >> 8),
					     (uint8_t)(last >> 40), (uint8_t)(last >> 16), DEVICE, SET_MAX_EXT},
				     .size = 16};
}

void ata_overlay(struct scsi_command *ret) { // feature 0xc2: DEVICE CONFIGURATION IDENTIFY
	*ret = (struct scsi_command){.cdb = {PASS_THROUGH, PIO_IN, FROM_DRIVE | BLOCKS | IN_COUNT, 0, 0xc2, 0, 1,
					     [13] = DEVICE, CONFIGURATION},
				     .size = 16};
}

void ata_check_power(struct scsi_command *ret) {
	*ret = (struct scsi_command){.cdb = {PASS_THROUGH, NON_DATA, CHECK, [13] = DEVICE, CHECK_POWER}, .size = 16};
}

void ata_security(enum ata_security command, struct scsi_command *ret) {
	bool has_data = command != ATA_SECURITY_PREPARE;

	*ret = (struct scsi_command){.cdb = {PASS_THROUGH, has_data ? PIO_OUT : NON_DATA,
					     has_data ? BLOCKS | IN_COUNT : CHECK, [6] = has_data, [13] = DEVICE,
					     (uint8_t)command},
				     .size = 16};
}

void ata_security_data(bool enhanced, uint8_t ret[ATA_PAGE]) {
	memset(ret, 0, ATA_PAGE);
	ret[0] = enhanced ? 2 : 0; // word 0: bit 0 the user's password, bit 8 level high
	memcpy(ret + 2, ATA_PASSWORD, sizeof(ATA_PASSWORD) - 1);
}

static unsigned word(const uint8_t *data, unsigned number) { return get_le16(data + 2 * number); }

// Words 89 and 90, in two minutes: bit 15 means that the value has 15 bits. The largest means "more than that".
static uint32_t estimate(unsigned value) {
	unsigned most = value & 0x8000 ? 0x7fff : 0xff;

	value &= most;
	return value == 0 || value == most ? SANITIZE_UNKNOWN : value * 120u;
}

// Texts of ATA have the bytes of each word exchanged.
static void copy_words(char *ret, const uint8_t *data, unsigned from, unsigned count) {
	uint8_t bytes[40];

	for (unsigned i = 0; i < count; i++) {
		bytes[2 * i] = data[2 * (from + i) + 1];
		bytes[2 * i + 1] = data[2 * (from + i)];
	}
	wire_text(ret, bytes, 2 * (size_t)count);
}

static bool is_whole(const uint8_t *data) {
	uint8_t sum = 0;

	for (unsigned i = 0; i < ATA_PAGE; i++)
		sum = (uint8_t)(sum + data[i]);
	return data[510] != 0xa5 || sum == 0;
}

int ata_overlay_decode(const uint8_t *data, size_t size, uint64_t *ret) {
	if (size < ATA_PAGE || data[510] != 0xa5 || !is_whole(data))
		return -EINVAL;
	*ret = get_le64(data + 6);
	return 0;
}

int ata_identity_decode(const uint8_t *data, size_t size, struct ata_identity *ret) {
	bool is_long = size >= ATA_PAGE && word(data, 83) & 1u << 10;

	if (size < ATA_PAGE || is_zero(data, ATA_PAGE) || word(data, 0) & 0x8000 || !is_whole(data))
		return -EINVAL;
	*ret = (struct ata_identity){.sectors = is_long ? get_le64(data + 200) : get_le32(data + 120),
				     .has_long = is_long,
				     .has_area = word(data, 82) & 1u << 10,
				     .has_overlay = word(data, 83) & 1u << 11,
				     .has_amac = word(data, 119) & 1u << 8,
				     .has_sanitize = word(data, 59) & 1u << 12,
				     .sanitize_crypto = word(data, 59) & 1u << 13,
				     .sanitize_overwrite = word(data, 59) & 1u << 14,
				     .sanitize_block = word(data, 59) & 1u << 15,
				     .has_security = word(data, 82) & 2,
				     .is_enabled = word(data, 85) & 2,
				     .is_locked = word(data, 128) & 4,
				     .is_frozen = word(data, 128) & 8,
				     .is_expired = word(data, 128) & 16,
				     .has_enhanced = word(data, 128) & 32,
				     .security = (uint16_t)word(data, 128),
				     .erase_seconds = estimate(word(data, 89)),
				     .enhanced_seconds = estimate(word(data, 90))};
	copy_words(ret->serial, data, 10, 10);
	copy_words(ret->firmware, data, 23, 4);
	copy_words(ret->model, data, 27, 20);
	return 0;
}

int ata_registers_decode(const uint8_t *sense, size_t size, struct ata_registers *ret) {
	size_t end;

	if (size < 8 || ((sense[0] & 0x7f) != 0x72 && (sense[0] & 0x7f) != 0x73))
		return -ENOENT; // the fixed format has no room for them
	end = 8u + sense[7] < size ? 8u + sense[7] : size;
	for (size_t at = 8; at + 14 <= end; at += 2u + sense[at + 1]) {
		const uint8_t *d = sense + at;
		if (d[0] != 0x09 || d[1] < 12)
			continue;
		*ret = (struct ata_registers){.status = d[13],
					      .error = d[3],
					      .count = get_be16(d + 4),
					      .lba = d[7] | (uint64_t)d[9] << 8 | (uint64_t)d[11] << 16 |
						     (uint64_t)d[6] << 24 | (uint64_t)d[8] << 32 |
						     (uint64_t)d[10] << 40};
		return 0;
	}
	return -ENOENT;
}

bool ata_is_error(const struct ata_registers *registers) { return registers->status & 0x21; } // ERROR, DEVICE FAULT

void ata_sanitize_decode(const struct ata_registers *registers, struct ata_sanitize *ret) {
	*ret = (struct ata_sanitize){.is_done = registers->count & 0x8000,
				     .is_running = registers->count & 0x4000,
				     .is_frozen = registers->count & 0x2000,
				     .progress = (uint16_t)registers->lba};
}

const char *ata_sanitize_reason(const struct ata_registers *registers) {
	static const char *const reasons[] = {
		"without a reason", "the last sanitize failed", "it does not know the command",
		"Sanitize is frozen: power the drive off and on", "Sanitize is locked by the antifreeze lock"};
	unsigned reason = (unsigned)registers->lba & 0xff;

	return reason < ELEMENTS(reasons) ? reasons[reason] : "for an unknown reason";
}
