// SPDX-License-Identifier: Apache-2.0
// Linked into sledc for tests in front of operands_get: each operand that a verb reads is a line "key=value" of the
// file that SLED_TEST_READS names.
#include <stdio.h>
#include <stdlib.h>

#include "base/operand.h"

const char *__real_operands_get(const struct operands *operands, const char *key);
const char *__wrap_operands_get(const struct operands *operands, const char *key);
const char *__wrap_operands_get_or(const struct operands *operands, const char *key, const char *otherwise);

const char *__wrap_operands_get(const struct operands *operands, const char *key) {
	const char *value = __real_operands_get(operands, key), *path = getenv("SLED_TEST_READS");
	FILE *file = value && path ? fopen(path, "ae") : NULL;

	if (file) {
		fprintf(file, "%s=%s\n", key, value);
		fclose(file);
	}
	return value;
}

const char *__wrap_operands_get_or(const struct operands *operands, const char *key, const char *otherwise) {
	const char *value = __wrap_operands_get(operands, key);
	return value ? value : otherwise;
}
