// SPDX-License-Identifier: Apache-2.0
// The response to a hello (contract/admission.md): a claim. Pure functions over a buffer.
#pragma once

#include <stddef.h>

#include "base/fault.h"

#define CLAIM_BYTES_MAX 4096u // of a hello, and of the response

struct claim {
	char code[10];	// XXXX-XXXX
	char nonce[65]; // hexadecimal digits
	char level[9];
	char want[40]; // words joined by ","; empty: nothing is missing
};

// Returns an error if a line is malformed; the fault names it.
int claim_parse(const char *data, size_t size, struct claim *ret, struct fault *fault);
