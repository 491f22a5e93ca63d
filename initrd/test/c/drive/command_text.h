// SPDX-License-Identifier: Apache-2.0
// The bytes of a SCSI command, to compare with those that other programs send.
#pragma once

#include <stdio.h>

#include "drive/scsi.h"

static inline const char *command_text(const struct scsi_command *command) {
	static char text[3 * SCSI_CDB + 1];

	*text = 0;
	for (unsigned i = 0; i < command->size; i++)
		snprintf(text + 3 * i, 4, "%02x ", command->cdb[i]);
	return text;
}
