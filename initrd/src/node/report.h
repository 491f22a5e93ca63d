// SPDX-License-Identifier: Apache-2.0
// What must still be reported to sledd about one step: begin, the newest progress, end. Pure: what to send, not how.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/operand.h"
#include "base/text.h"
#include "node/hostkey.h"

// In bytes: an end line with both must fit even if each byte is written as %XX; sledd refuses longer texts.
#define REASON_MAX 512u
#define DETAIL_MAX 512u
#define ERASURES_MAX 250u // a report has at most 256 lines
#define DIGEST_MAX 71u	  // "sha256:" and 64 digits
#define ENDED_MAX 512u
#define UPLOAD_ID 32u // hexadecimal digits

// What a write received; the names and limits are those of contract/report.md.
enum received_figure {
	RECEIVED_HTTP,
	RECEIVED_MULTICAST,
	RECEIVED_PACKETS,
	RECEIVED_LOST,
	RECEIVED_REJECTED,
	RECEIVED_LAST,
	RECEIVED_FIGURES
};

struct received {
	bool is_known;
	uint64_t figures[RECEIVED_FIGURES];
};

struct report {
	const char *generation, *run, *boot, *step, *of, *verb;
	const char *next; // verb of the step that follows, which starts with a successful end; NULL: none
	bool begin_due, progress_due, end_due, ended;
	uint64_t bytes, total, rate;
	unsigned code;
	double seconds;
	char reason[REASON_MAX + 1];
	char detail[DETAIL_MAX + 1];		// the step's own description of its result
	const char *way;			// how the step kexec or start leaves; NULL: not reported
	char host_key[HOSTKEY_LINE_MAX + 1];	// that the step configure made; empty: none
	char digest[DIGEST_MAX + 1];		// of the image that a capture made; empty: none
	char upload[UPLOAD_ID + 1];		// id that the server gave to the upload of that image
	uint64_t image_bytes, image_file_bytes; // of its disk, of its file
	char ended_by[ENDED_MAX + 1];		// of the program of a step run: operands of its end; empty: none
	struct received received;		// by a write
	struct text erasures;			// that a wipe made: lines of the report
	unsigned erasure_count;
};

// Parses one line of standard input, without its LF: progress, detail, way, hostkey, image, received,
// erasure, ended or end.
// Any other line changes nothing: false. Free `erasures` when the step has ended.
bool report_take(struct report *report, const char *line, size_t size);

// Returns whether the start of the next step is due.
bool report_begins_next(const struct report *report);

// Adds a body with everything that is due.
void report_write(const struct report *report, struct text *text);

// Returns whether a line may be lost without harm: the next one replaces it.
bool report_may_lose(const char *line);

// Sets *ret to the last line of a log that is not blank, made printable, at most REASON_MAX bytes.
void report_reason(const char *log, char ret[REASON_MAX + 1]);
