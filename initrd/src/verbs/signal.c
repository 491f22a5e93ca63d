// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "net/api.h"
#include "verbs/verbs.h"

#define WAIT "60" // seconds: contract/job.md
#define WAIT_NS (60 * SECOND)
#define THINK_NS (15 * SECOND)

const struct operand_rule signal_rules[] = {
	API_RULES,
	{"job", true, "id of the job; prints TERM or KILL, or \"none\" after a minute", NULL, check_job},
	{"given", false, "the signal that was printed last", "TERM|KILL", NULL},
	{0},
};

static int request_signal(struct api *api, const struct operands *operands, struct fault *fault) {
	const char *given = operands_get(operands, "given");
	cleanup_free char *answer = NULL;
	char path[128];
	unsigned status;
	int r;

	snprintf(path, sizeof(path), "job/signal?job=%s&wait=" WAIT "%s%s", operands_get(operands, "job"),
		 given ? "&given=" : "", given ? given : "");
	struct call call = {
		.method = "GET",
		.path = path,
		.answer_max = 4096,
		.answer_ns = WAIT_NS + THINK_NS,
		.give_up = clock_now() + WAIT_NS,
	};
	r = api_call(api, &call, &status, &answer, NULL, fault);
	if (r < 0)
		return r;
	if (status == 204)
		return puts("none") < 0 ? -1 : 0;
	if (status != 200)
		return api_refused(status, answer, fault);
	if (strcmp(answer, "TERM\n") != 0 && strcmp(answer, "KILL\n") != 0)
		return fault_set(fault, CODE_NETWORK, "the server sent neither TERM nor KILL");
	fputs(answer, stdout);
	return 0;
}

enum exit_code verb_signal(const struct operands *operands) {
	cleanup_with(api_close) struct api api = {0};
	struct fault fault;
	int r = api_open(operands, &api, &fault);

	if (r == 0)
		r = request_signal(&api, operands, &fault);
	return r < 0 ? fault_print(&fault, "signal") : CODE_DONE;
}
