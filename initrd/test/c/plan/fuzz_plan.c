// SPDX-License-Identifier: Apache-2.0
// Plans, and the selectors and URLs in them. A plan that is accepted is accepted again line by line.
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct operands operands;
	struct fault fault = {0};
	struct plan_numbers numbers;

	if (plan_check((const char *)data, size, &fault) < 0 &&
	    (fault.code != CODE_USAGE || strncmp(fault.text, "line ", 5)))
		abort();
	(void)plan_numbers((const char *)data, size, &numbers, &fault);
	(void)operands_parse((const char *)data, size, &operands, &fault);
	operands_free(&operands);
	return 0;
}
