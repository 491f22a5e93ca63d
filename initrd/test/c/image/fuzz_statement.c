// SPDX-License-Identifier: Apache-2.0
// Statements, and files of floors. A statement that is accepted is written again as it was.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "image/floor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_statement(const char *text) {
	char again[STATEMENT_MAX];
	struct statement statement;
	struct fault fault = {0};

	if (statement_parse(text, &statement, &fault) < 0) {
		if (fault.code != CODE_USAGE)
			abort();
		return;
	}
	statement_write(&statement, again);
	if (strcmp(again, text) != 0)
		abort();
}

static void try_floors(const char *text) {
	static struct floors floors;
	struct fault fault = {0};

	if (floors_parse(text, &floors, &fault) < 0 ? fault.code != CODE_FAILED : floors.count > FLOORS_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	try_statement(text);
	try_floors(text);
	free(text);
	return 0;
}
