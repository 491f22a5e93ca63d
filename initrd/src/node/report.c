// SPDX-License-Identifier: Apache-2.0
#include "node/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "plan/values.h"

static uint64_t number_of(const struct operands *operands, const char *key, uint64_t max) {
	const char *text = operands_get(operands, key);
	uint64_t n = 0;
	return text && number_parse(text, max, &n) == 0 ? n : 0;
}

static char printable(char c) { return c >= ' ' && c < 0x7f ? c : '?'; }

static bool take_detail(struct report *report, const char *text, size_t size) {
	size_t n = size < DETAIL_MAX ? size : DETAIL_MAX;

	for (size_t i = 0; i < n; i++)
		report->detail[i] = printable(text[i]);
	report->detail[n] = 0;
	return n > 0;
}

static bool take_image(struct report *report, const struct operands *operands) {
	const char *digest = operands_get(operands, "digest"), *upload = operands_get(operands, "upload");
	struct fault fault;

	if (!digest || check_digest(digest, &fault) < 0 || !upload || strlen(upload) != UPLOAD_ID)
		return false;
	snprintf(report->digest, sizeof(report->digest), "%s", digest);
	snprintf(report->upload, sizeof(report->upload), "%s", upload);
	report->image_bytes = number_of(operands, "bytes", NUMBER_MAX);
	report->image_file_bytes = number_of(operands, "file_bytes", NUMBER_MAX);
	return true;
}

static const struct {
	const char *key;
	uint64_t most;
} received_figures[RECEIVED_FIGURES] = {
	[RECEIVED_HTTP] = {"http", 1ull << 50},		[RECEIVED_MULTICAST] = {"multicast", 1ull << 50},
	[RECEIVED_PACKETS] = {"packets", 1ull << 40},	[RECEIVED_LOST] = {"lost", 1ull << 40},
	[RECEIVED_REJECTED] = {"rejected", 1ull << 21}, [RECEIVED_LAST] = {"last", UINT32_MAX},
};

// All figures, or none.
static bool take_received(struct report *report, const struct operands *operands) {
	struct received received = {.is_known = true};

	for (size_t i = 0; i < RECEIVED_FIGURES; i++) {
		const char *text = operands_get(operands, received_figures[i].key);
		if (!text || number_parse(text, received_figures[i].most, &received.figures[i]) < 0)
			return false;
	}
	report->received = received;
	return true;
}

static void write_received(const struct report *report, struct text *text) {
	for (size_t i = 0; i < RECEIVED_FIGURES; i++)
		text_addf(text, " %s=%" PRIu64, received_figures[i].key, report->received.figures[i]);
}

// The line consists of exactly these words, without operands.
static bool take_way(struct report *report, const char *line, size_t size) {
	static const char *const ways[] = {"way kexec", "way reboot"};

	for (size_t i = 0; i < ELEMENTS(ways); i++)
		if (size == strlen(ways[i]) && !memcmp(line, ways[i], size)) {
			report->way = ways[i] + strlen("way ");
			return true;
		}
	return false;
}

static bool take_host_key(struct report *report, const char *text, size_t size) {
	if (!hostkey_is_line(text, size))
		return false;
	memcpy(report->host_key, text, size);
	report->host_key[size] = 0;
	return true;
}

static bool take_erasure(struct report *report, const char *line, size_t size) {
	if (report->erasure_count == ERASURES_MAX)
		return false;
	report->erasure_count++;
	text_add(&report->erasures, line, size);
	text_adds(&report->erasures, "\n");
	return true;
}

bool report_may_lose(const char *line) { return !strncmp(line, "progress ", strlen("progress ")); }

bool report_take(struct report *report, const char *line, size_t size) {
	cleanup_with(operands_free) struct operands operands = {0};
	const size_t word = strlen("detail "), key = strlen("hostkey ");
	struct fault fault;

	if (report->ended)
		return false;
	if (size >= word && !memcmp(line, "detail ", word)) // plain text, not operands
		return take_detail(report, line + word, size - word);
	if (size >= key && !memcmp(line, "hostkey ", key))
		return take_host_key(report, line + key, size - key);
	if (take_way(report, line, size))
		return true;
	if (operands_parse(line, size, &operands, &fault) < 0)
		return false;
	if (!strcmp(operands.verb, "ended") && size - strlen("ended") <= ENDED_MAX) {
		snprintf(report->ended_by, sizeof(report->ended_by), "%.*s", (int)(size - strlen("ended")),
			 line + strlen("ended"));
		return true;
	}
	if (!strcmp(operands.verb, "erasure"))
		return take_erasure(report, line, size);
	if (!strcmp(operands.verb, "image"))
		return take_image(report, &operands);
	if (!strcmp(operands.verb, "received"))
		return take_received(report, &operands);
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

static void write_end(const struct report *report, struct text *text) {
	if (!strcmp(report->verb, "wipe"))
		text_add(text, report->erasures.data, report->erasures.size);
	text_addf(text, "end step=%s verb=%s code=%u seconds=%.3f", report->step, report->verb, report->code,
		  report->seconds);
	if (report->code != 0)
		operand_write(text, "reason", report->reason);
	if (*report->detail)
		operand_write(text, "detail", report->detail);
	if (report->way && report->code == 0 && (!strcmp(report->verb, "kexec") || !strcmp(report->verb, "start")))
		operand_write(text, "way", report->way);
	if (*report->host_key && report->code == 0 && !strcmp(report->verb, "configure"))
		operand_write(text, "host_key", report->host_key);
	if (*report->digest && report->code == 0 && !strcmp(report->verb, "capture"))
		text_addf(text, " digest=%s bytes=%" PRIu64 " file_bytes=%" PRIu64 " upload=%s", report->digest,
			  report->image_bytes, report->image_file_bytes, report->upload);
	if (!strcmp(report->verb, "run"))
		text_adds(text, report->ended_by);
	if (report->received.is_known && report->code == 0 && !strcmp(report->verb, "write"))
		write_received(report, text);
	text_adds(text, "\n");
}

static void write_begin(const struct report *report, unsigned long step, const char *verb, struct text *text) {
	text_addf(text, "begin step=%lu of=%s verb=%s\n", step, report->of, verb);
}

bool report_begins_next(const struct report *report) {
	return report->end_due && report->code == 0 && report->next && !report->begin_due;
}

void report_write(const struct report *report, struct text *text) {
	unsigned long step = strtoul(report->step, NULL, 10);

	text_addf(text, "report 1\ngeneration %s run %s\nboot %s\n", report->generation, report->run, report->boot);
	if (report->begin_due)
		write_begin(report, step, report->verb, text);
	if (report->progress_due)
		text_addf(text, "progress step=%s verb=%s bytes=%" PRIu64 " total=%" PRIu64 " rate=%" PRIu64 "\n",
			  report->step, report->verb, report->bytes, report->total, report->rate);
	if (report->end_due)
		write_end(report, text);
	if (report_begins_next(report))
		write_begin(report, step + 1, report->next, text);
}

void report_reason(const char *log, char ret[REASON_MAX + 1]) {
	const char *end = log + strlen(log);

	*ret = 0;
	while (end > log && !*ret) {
		const char *line = end;
		size_t n = 0;
		while (line > log && line[-1] != '\n')
			line--;
		// Output that overwrites its line: only the text after the last return.
		for (const char *c = line; c < end; c++) {
			if (*c == '\r' && c + 1 < end)
				n = 0;
			else if (n < REASON_MAX && !(n == 0 && *c <= ' '))
				ret[n++] = printable(*c);
		}
		while (n > 0 && (ret[n - 1] == ' ' || ret[n - 1] == '?'))
			n--;
		ret[n] = 0;
		end = line > log ? line - 1 : log;
	}
}
