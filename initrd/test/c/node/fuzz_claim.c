// SPDX-License-Identifier: Apache-2.0
// Claims. One that is accepted is accepted again as sledd would write it.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/claim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct claim claim, again;
	struct fault fault = {0};
	char text[256];
	int n;

	if (claim_parse((const char *)data, size, &claim, &fault) < 0) {
		if (fault.code != CODE_USAGE || strncmp(fault.text, "line ", 5))
			abort();
		return 0;
	}
	n = snprintf(text, sizeof(text), "claim 1\nadmission code=%s nonce=%s level=%s want=%s\n", claim.code,
		     claim.nonce, claim.level, claim.want);
	if (n < 0 || (size_t)n >= sizeof(text) || claim_parse(text, (size_t)n, &again, &fault) < 0 ||
	    memcmp(&claim, &again, sizeof(claim)) != 0)
		abort();
	return 0;
}
