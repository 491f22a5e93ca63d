// SPDX-License-Identifier: Apache-2.0
// What a SCSI drive returns. The first byte selects the structure.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "drive/scsi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_inquiry(const uint8_t *data, size_t size) {
	struct scsi_inquiry i;

	if (scsi_inquiry_decode(data, size, &i) < 0)
		return;
	if (strlen(i.vendor) > 8 || strlen(i.product) > 16 || strlen(i.revision) > 4)
		abort();
	for (const char *text = i.product; *text; text++)
		if (*text < ' ' || *text > '~')
			abort();
}

static void try_sense(const uint8_t *data, size_t size) {
	struct scsi_sense s;

	if (scsi_sense_decode(data, size, &s) == 0 && (s.key > 15 || (!s.has_progress && s.progress)))
		abort();
	(void)scsi_state(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	uint8_t *copy = size > 1 ? malloc(size - 1) : NULL; // of the exact size, for the sanitizer
	uint32_t seconds;
	bool supported;

	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	if (data[0] % 3 == 0)
		try_inquiry(copy, size - 1);
	else if (data[0] % 3 == 1)
		try_sense(copy, size - 1);
	else if (scsi_report_decode(copy, size - 1, &supported, &seconds) < 0 && size - 1 >= 4)
		abort();
	free(copy);
	return 0;
}
