// SPDX-License-Identifier: Apache-2.0
// A granule of a disk, and the value of an operand.
#include <stdlib.h>
#include <string.h>

#include "disk/stamp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	uint8_t *granule = calloc(1, STAMP_BYTES);
	char *value = strndup((const char *)data, size);
	struct stamp stamp;
	struct fault fault;

	memcpy(granule, data, size < STAMP_BYTES ? size : STAMP_BYTES);
	(void)stamp_read(granule, &stamp);
	(void)stamp_parse(value, &stamp, &fault);
	free(value);
	free(granule);
	return 0;
}
