// SPDX-License-Identifier: Apache-2.0
// Sends commands to ATA drives, which libata or the controller passes through (SAT-4 12.2).
#pragma once

#include "drive/ata.h"
#include "drive/drive.h"

#define ATA_SECONDS 60u // for a command that returns at once

// Returns 0 if the command succeeded; 1 if the drive ended it with an error, which the registers state; -errno if
// the result is not known.
int ata_submit(struct drive *drive, const char *what, const struct scsi_command *command, void *data, int size,
	       uint32_t seconds, struct ata_registers *ret, struct fault *fault);

bool ata_is_drive(struct drive *drive);
int ata_read_identity(struct drive *drive, struct ata_identity *ret, struct fault *fault);
