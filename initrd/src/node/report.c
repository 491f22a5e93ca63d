// SPDX-License-Identifier: Apache-2.0
#include "node/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/number.h"

static uint64_t number_of(const struct operands *operands, const char *key, uint64_t max) {
	const char *text = operands_get(operands, key);
	uint64_t n = 0;
	return text && number_parse(text, max, &n) == 0 ? n : 0;
}

bool report_take(struct report *report, const char *line, size_t size) {
	cleanup_with(operands_free) struct operands operands = {0};
	struct fault fault;

	if (operands_parse(line, size, &operands, &fault) < 0 || report->ended)
		return false;
	if (!strcmp(operands.verb, "progress") && operands_get(&operands, "bytes")) {
		report->bytes = number_of(&operands, "bytes", NUMBER_MAX);
		report->total = number_of(&operands, "total", NUMBER_MAX);
		report->rate = number_of(&operands, "rate", NUMBER_MAX);
		return report->progress_due = true;
	}
	if (!strcmp(operands.verb, "end") && operands_get(&operands, "code")) {
		report->code = (unsigned)number_of(&operands, "code", 255);
		return report->ended = report->end_due = true;
	}
	return false;
}

void report_write(const struct report *report, struct text *text) {
	text_addf(text, "report 1\ngeneration %s\nboot %s\n", report->generation, report->boot);
	if (report->begin_due)
		text_addf(text, "begin step=%s of=%s verb=%s\n", report->step, report->of, report->verb);
	if (report->progress_due)
		text_addf(text, "progress step=%s verb=%s bytes=%" PRIu64 " total=%" PRIu64 " rate=%" PRIu64 "\n", report->step,
			  report->verb, report->bytes, report->total, report->rate);
	if (report->end_due) {
		text_addf(text, "end step=%s verb=%s code=%u seconds=%.3f", report->step, report->verb, report->code,
			  report->seconds);
		if (report->code != 0)
			operand_write(text, "reason", report->reason);
		text_adds(text, "\n");
	}
}

void report_reason(const char *log, char ret[REASON_MAX + 1]) {
	const char *end = log + strlen(log);

	*ret = 0;
	while (end > log && !*ret) {
		const char *line = end;
		size_t n = 0;
		while (line > log && line[-1] != '\n')
			line--;
		// A console that was drawn over: what stands after the last return.
		for (const char *c = line; c < end; c++) {
			if (*c == '\r' && c + 1 < end)
				n = 0;
			else if (n < REASON_MAX && !(n == 0 && *c <= ' '))
				ret[n++] = *c >= ' ' && *c < 0x7f ? *c : '?';
		}
		while (n > 0 && (ret[n - 1] == ' ' || ret[n - 1] == '?'))
			n--;
		ret[n] = 0;
		end = line > log ? line - 1 : log;
	}
}
