// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "net/api.h"
#include "node/facts.h"
#include "verbs/verbs.h"

const struct operand_rule facts_rules[] = {
	{"servers", false, "base URLs of sledd, joined by ,; without them the facts are printed", NULL, check_urls},
	{"mac", false, "MAC address that identifies the node", NULL, check_mac},
	{"token", false,
	 "file with the token; a renewed token is written to it; prints \"admitted\" if that ends the "
	 "wait of a claim",
	 NULL, NULL},
	{"ca", false, "file with CA certificates (default " DEFAULT_CA ")", NULL, NULL},
	{"root", false, "read sysfs and procfs below this directory", NULL, NULL},
	{0},
};

static int post(const struct operands *operands, const struct text *text, struct fault *fault) {
	cleanup_with(api_close) struct api api = {0};
	struct call call = {
		.method = "POST",
		.path = "facts",
		.body = text->data,
		.body_size = text->size,
		.answer_max = 4096,
		.answer_ns = 15 * SECOND,
		.give_up = clock_now() + 120 * SECOND,
	};
	cleanup_free char *answer = NULL;
	bool was_claim;
	unsigned status;
	int r = api_open(operands, &api, fault);

	if (r == 0)
		r = api_read_token(api.token_file, api.token, fault);
	was_claim = api_has_claim(&api);
	if (r == 0)
		r = api_call(&api, &call, &status, &answer, NULL, fault);
	if (r < 0)
		return r;
	if (status != 204 && status != 200)
		return api_refused(status, answer, fault);
	if (was_claim && !api_has_claim(&api))
		puts("admitted");
	return 0;
}

enum exit_code verb_facts(const struct operands *operands) {
	cleanup_with(text_free) struct text text = {0};
	struct fault fault;
	int r;

	if (operands_get(operands, "servers") && (!operands_get(operands, "mac") || !operands_get(operands, "token"))) {
		fputs("facts: servers= also needs mac= and token=\n", stderr);
		return CODE_USAGE;
	}
	r = facts_collect(operands_get_or(operands, "root", ""), &text, &fault);
	if (r == 0 && operands_get(operands, "servers"))
		r = post(operands, &text, &fault);
	else if (r == 0)
		fputs(text_string(&text), stdout);
	return r < 0 ? fault_print(&fault, "facts") : CODE_DONE;
}
