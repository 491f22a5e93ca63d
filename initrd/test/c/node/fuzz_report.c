// SPDX-License-Identifier: Apache-2.0
// The lines that a step prints, one after the other, and the report that is made of them.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "node/report.h"

#define BODY_LINES_MAX 256u // contract/report.md

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count_lines(const struct text *text) {
	size_t lines = 0;
	for (size_t i = 0; i < text->size; i++)
		lines += text->data[i] == '\n';
	return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static const char *const verbs[] = {"wipe", "write", "configure", "capture", "kexec"};
	struct report report = {.generation = "1", .run = "1", .boot = "B", .step = "1", .of = "1"};
	const char *line = (const char *)data, *end = line + size;
	struct text body = {0};

	report.verb = verbs[size % (sizeof(verbs) / sizeof(verbs[0]))];
	while (line < end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		const char *stop = newline ? newline : end;
		(void)report_take(&report, line, (size_t)(stop - line));
		line = newline ? newline + 1 : end;
	}
	report_write(&report, &body);
	if (count_lines(&body) > BODY_LINES_MAX)
		abort();
	text_free(&body);
	text_free(&report.erasures);
	return 0;
}
