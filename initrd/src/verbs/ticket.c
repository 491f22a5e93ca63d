// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "net/api.h"
#include "verbs/verbs.h"

const struct operand_rule ticket_rules[] = {
	API_RULES,
	{"out", true, "file for the ticket, readable only by its owner", NULL, NULL},
	{0},
};

static int request_ticket(struct api *api, const char *out, struct fault *fault) {
	struct call call = {
		.method = "POST",
		.path = "ticket",
		.answer_max = TOKEN_MAX + 1,
		.answer_ns = 15 * SECOND,
		.give_up = clock_now() + 120 * SECOND,
	};
	cleanup_free char *ticket = NULL;
	unsigned status;
	size_t size;
	int r = api_call(api, &call, &status, &ticket, &size, fault);

	if (r < 0)
		return r;
	if (status != 200)
		return api_refused(status, ticket, fault);
	r = file_write_atomic(out, 0600, ticket, size);
	return r < 0 ? fault_errno(fault, CODE_FAILED, r, "%s", out) : 0;
}

enum exit_code verb_ticket(const struct operands *operands) {
	cleanup_with(api_close) struct api api = {0};
	struct fault fault;
	int r = api_open(operands, &api, &fault);

	if (r == 0)
		r = request_ticket(&api, operands_get(operands, "out"), &fault);
	return r < 0 ? fault_print(&fault, "ticket") : CODE_DONE;
}
