// SPDX-License-Identifier: Apache-2.0
// Wire structures of ATA, in SCSI commands that pass them through: commands, and what a drive returns. Pure functions
// over buffers. Citations: ACS-4 (T13/BSR INCITS 529), SAT-4 (T10/BSR INCITS 491).
#pragma once

#include "drive/scsi.h"

#define ATA_PAGE 512u // bytes of IDENTIFY DEVICE

enum ata_sanitize_feature { // ACS-4 7.36
	ATA_SANITIZE_STATUS = 0x0000,
	ATA_SANITIZE_CRYPTO = 0x0011,
	ATA_SANITIZE_BLOCK = 0x0012,
	ATA_SANITIZE_OVERWRITE = 0x0014,
};

// IDENTIFY DEVICE, ACS-4 7.12.6.
struct ata_identity {
	char serial[21], firmware[9], model[41];
	uint64_t sectors;					  // words 100 to 103, or 60 and 61
	bool has_long, has_area, has_overlay, has_amac;		  // words 83 bit 10, 82 bit 10, 83 bit 11, 119 bit 8
	bool has_sanitize;					  // word 59 bit 12
	bool sanitize_crypto, sanitize_overwrite, sanitize_block; // bits 13 to 15
	bool has_security, is_enabled;				  // words 82 and 85, bit 1: passwords
	bool is_locked, is_frozen, is_expired, has_enhanced;	  // word 128, bits 2 to 5
	uint16_t security;					  // word 128
	uint32_t erase_seconds, enhanced_seconds;		  // words 89 and 90; SANITIZE_UNKNOWN: none
};

enum ata_security { // ACS-4 7.38 to 7.43: commands that take the password, and the one that is sent before an erase
	ATA_SECURITY_SET = 0xf1,
	ATA_SECURITY_UNLOCK = 0xf2,
	ATA_SECURITY_PREPARE = 0xf3,
	ATA_SECURITY_ERASE = 0xf4,
	ATA_SECURITY_DISABLE = 0xf6,
};

#define ATA_PASSWORD "sled" // docs/disks.md; an erase that was interrupted leaves it on the drive

// Registers that a command returned (SAT-4 12.2.7).
struct ata_registers {
	uint8_t status, error;
	uint16_t count;
	uint64_t lba;
};

// What SANITIZE STATUS EXT returned (ACS-4 7.36.6).
struct ata_sanitize {
	bool is_done, is_running, is_frozen; // count, bits 15, 14 and 13
	uint16_t progress;		     // LBA bits 15:0
};

void ata_identify(struct scsi_command *ret);

// SANITIZE DEVICE: one overwrite pass of zeros; a drive that fails returns no user data until another one succeeds
// (FAILURE MODE 0).
void ata_sanitize(enum ata_sanitize_feature feature, struct scsi_command *ret);

// What the drive could address at most, though it may be set to less. The registers of the first two have the last
// sector: READ NATIVE MAX ADDRESS (EXT) of a host protected area, GET NATIVE MAX ADDRESS EXT (ACS-4 7.1). DEVICE
// CONFIGURATION IDENTIFY returns a page (ACS-2 7.9.3).
void ata_native_max(bool is_long, struct scsi_command *ret);
void ata_accessible_max(struct scsi_command *ret);
void ata_overlay(struct scsi_command *ret);

// Decodes the last sector without an overlay. Returns -EINVAL if the buffer is too short, or has a wrong checksum.
int ata_overlay_decode(const uint8_t *data, size_t size, uint64_t *ret);

// SET MAX ADDRESS EXT, until the power of the drive is cut: its last sector (ACS-2 7.45.7). READ NATIVE MAX ADDRESS EXT
// must precede it, with no command in between.
void ata_set_max(uint64_t last, struct scsi_command *ret);

// Changes nothing, and returns registers where the controller returns them (CHECK POWER MODE).
void ata_check_power(struct scsi_command *ret);

void ata_security(enum ata_security command, struct scsi_command *ret);

// The data of all of them but PREPARE: Sled's password as the user's, so that the maker's master password keeps working
// too (security level high).
void ata_security_data(bool enhanced, uint8_t ret[ATA_PAGE]);

// Returns -EINVAL if the buffer is too short, or what it holds is no ATA drive, or has a wrong checksum.
int ata_identity_decode(const uint8_t *data, size_t size, struct ata_identity *ret);

// Finds the registers in sense data. Returns -ENOENT if there are none.
int ata_registers_decode(const uint8_t *sense, size_t size, struct ata_registers *ret);

bool ata_is_error(const struct ata_registers *registers);
void ata_sanitize_decode(const struct ata_registers *registers, struct ata_sanitize *ret);

// Why a SANITIZE command ended with an error (ACS-4 7.36.1, error outputs).
const char *ata_sanitize_reason(const struct ata_registers *registers);
