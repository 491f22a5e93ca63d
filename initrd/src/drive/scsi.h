// SPDX-License-Identifier: Apache-2.0
// Wire structures of SCSI: commands, and what a drive returns. Pure functions over buffers. Citations: SPC-5 (T10/BSR
// INCITS 502), SBC-4 (T10/BSR INCITS 506).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCSI_CDB 16u	// bytes of the longest command here
#define SCSI_SENSE 252u // bytes of sense data that are requested

struct scsi_command {
	uint8_t cdb[SCSI_CDB];
	unsigned size; // of it: 6, 10, 12 or 16
};

enum scsi_sanitize_action { // SBC-4 5.30, service actions of SANITIZE
	SCSI_SANITIZE_OVERWRITE = 0x01,
	SCSI_SANITIZE_BLOCK = 0x02,
	SCSI_SANITIZE_CRYPTO = 0x03,
};

// Standard INQUIRY data, SPC-5 6.7.2.
struct scsi_inquiry {
	bool is_disk; // device type 0x00, or 0x14: a zoned one
	bool is_ata;  // behind a translation layer (SAT), which names itself so
	char vendor[9], product[17], revision[5];
};

// Sense data of either format, SPC-5 4.5.
struct scsi_sense {
	uint8_t key, code, qualifier;
	bool has_progress;
	uint16_t progress; // of 65,536
};

enum scsi_state { SCSI_IDLE, SCSI_RUNNING, SCSI_FAILED, SCSI_UNKNOWN };

void scsi_inquiry(struct scsi_command *ret, uint8_t size);
void scsi_request_sense(struct scsi_command *ret);

// REPORT SUPPORTED OPERATION CODES for one action of SANITIZE, with its timeouts (SPC-5 6.35).
void scsi_report_sanitize(enum scsi_sanitize_action action, uint32_t size, struct scsi_command *ret);

// SANITIZE (SBC-4 5.30), which returns at once (IMMED); a drive that fails returns no user data until another one
// succeeds (AUSE 0).
void scsi_sanitize(enum scsi_sanitize_action action, uint16_t parameters, struct scsi_command *ret);

#define SCSI_OVERWRITE 8u // bytes of the parameters of an overwrite: one pass of zeros (SBC-4 5.30.2.2)
void scsi_overwrite(uint8_t ret[SCSI_OVERWRITE]);

// Returns -EINVAL if the buffer is too short, or has an unknown format.
int scsi_inquiry_decode(const uint8_t *data, size_t size, struct scsi_inquiry *ret);
int scsi_sense_decode(const uint8_t *data, size_t size, struct scsi_sense *ret);

// *ret_seconds: the recommended timeout; 0: the drive states none.
int scsi_report_decode(const uint8_t *data, size_t size, bool *ret_supported, uint32_t *ret_seconds);

// What sense data means for a sanitize (SBC-4 4.11).
enum scsi_state scsi_state(const struct scsi_sense *sense);
