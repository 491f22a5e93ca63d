// SPDX-License-Identifier: Apache-2.0
// What sledd is still to be told of one step: begin, the newest progress, end. Pure: what to send, not how.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "plan/operand.h"

#define REASON_MAX 1024u // bytes

struct report {
	const char *generation, *boot, *step, *of, *verb;
	bool begin_due, progress_due, end_due, ended;
	uint64_t bytes, total, rate;
	unsigned code;
	double seconds;
	char reason[REASON_MAX + 1];
};

// Takes one line of standard input, without its LF. False when it is neither progress nor end; it changes nothing then.
bool report_take(struct report *report, const char *line, size_t size);

// Adds a body with all that is due.
void report_write(const struct report *report, struct text *text);

// The last line of a log that is not blank, printable, at most REASON_MAX bytes.
void report_reason(const char *log, char ret[REASON_MAX + 1]);
