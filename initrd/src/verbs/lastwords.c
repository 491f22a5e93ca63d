// SPDX-License-Identifier: Apache-2.0
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "net/api.h"
#include "verbs/verbs.h"

#define WORDS_MAX (64u * 1024) // contract/report.md

const struct operand_rule lastwords_rules[] = {
	API_RULES,
	{"file", true, "file to send; at most its first 64 KiB are sent", NULL, NULL},
	{0},
};

enum exit_code verb_lastwords(const struct operands *operands) {
	cleanup_with(api_close) struct api api = {0};
	cleanup_free char *text = NULL, *answer = NULL;
	struct call call = {
		.method = "POST",
		.path = "lastwords",
		.answer_max = 4096,
		.answer_ns = 15 * SECOND,
		.give_up = clock_now() + 60 * SECOND,
	};
	struct fault fault;
	unsigned status;
	size_t size = 0;
	int r = file_read(operands_get(operands, "file"), 1 << 20, &text, &size);

	if (r < 0)
		fault_errno(&fault, CODE_FAILED, r, "%s", operands_get(operands, "file"));
	else
		r = api_open(operands, &api, &fault);
	call.body = text;
	call.body_size = size < WORDS_MAX ? size : WORDS_MAX;
	if (r == 0)
		r = api_call(&api, &call, &status, &answer, NULL, &fault);
	if (r == 0 && status >= 300)
		r = api_refused(status, answer, &fault);
	return r < 0 ? fault_print(&fault, "lastwords") : CODE_DONE;
}
