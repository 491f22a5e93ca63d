// SPDX-License-Identifier: Apache-2.0
// The file of PSIDs. What the check accepts, the search reads; a PSID that is found is one.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "drive/psids.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	char *text = malloc(size + 1), serial[64] = "", psid[PSID + 1];
	struct fault fault;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	memcpy(serial, text, strcspn(text, " \t\n") < sizeof(serial) ? strcspn(text, " \t\n") : 0);
	if (psids_find(text, serial, psid) == 0 && (strlen(psid) != PSID || !*serial))
		abort();
	if (psids_check(text, &fault) < 0 && fault.code != CODE_USAGE)
		abort();
	free(text);
	return 0;
}
