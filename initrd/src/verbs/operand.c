// SPDX-License-Identifier: Apache-2.0
// For the shell, which passes plan lines on and never decodes a value itself.
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "verbs/verbs.h"

enum exit_code verb_operand(int count, char **words) {
	cleanup_with(operands_free) struct operands operands = {0};
	struct fault fault;
	const char *value;

	if (count < 2) {
		fputs("operand: a key and a plan line are required: operand KEY VERB key=value...\n", stderr);
		return CODE_USAGE;
	}
	// The verb may be missing: the output of bootentry has none.
	for (int i = strchr(words[1], '=') ? 1 : 2; i < count; i++)
		if (operands_add(&operands, words[i], strlen(words[i]), &fault) < 0)
			return fault_print(&fault, "operand");
	value = operands_get(&operands, words[0]);
	if (!value)
		return CODE_FAILED;
	return puts(value) < 0 || fflush(stdout) ? CODE_FAILED : CODE_DONE;
}
