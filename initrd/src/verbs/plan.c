// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/number.h"
#include "net/api.h"
#include "verbs/verbs.h"

#define WAIT_MAX 60u // seconds: contract/plan.md
#define THINK_NS (15 * SECOND)

static int check_wait(const char *value, struct fault *fault) {
	uint64_t n;
	return number_parse(value, WAIT_MAX, &n) < 0
		       ? fault_set(fault, CODE_USAGE, "\"%s\" is not 0 to %u seconds", value, WAIT_MAX)
		       : 0;
}

const struct operand_rule plan_rules[] = {
	API_RULES,
	{"out", true,
	 "file for the plan; prints \"generation N run R\" and writes it, or prints \"unchanged\", "
	 "or \"waiting\" for the admission of a claim",
	 NULL, NULL},
	{"run", false, "run of the plan before; omit it for the first plan of this boot", NULL, check_number},
	{"wait", false, "seconds to wait for a new plan and for a server (default 60)", NULL, check_wait},
	{0},
};

// Only the numbers are read before the plan is stored. init checks the rest before a step runs, so that it can report a
// refusal.
static int store(const struct operands *operands, const char *plan, size_t size, struct fault *fault) {
	const char *out = operands_get(operands, "out"), *known = operands_get(operands, "run");
	struct plan_numbers numbers;
	uint64_t before;
	int r = plan_numbers(plan, size, &numbers, fault);

	if (r < 0)
		return r;
	if (known && number_parse(known, NUMBER_MAX, &before) == 0 && numbers.run <= before)
		return fault_set(fault, CODE_FAILED, "the server sent run %" PRIu64 " after run %s", numbers.run,
				 known);
	r = file_write_atomic(out, 0600, plan, size);
	if (r < 0)
		return fault_errno(fault, CODE_FAILED, r, "%s", out);
	printf("generation %" PRIu64 " run %" PRIu64 "\n", numbers.generation, numbers.run);
	return 0;
}

static int request_plan(struct api *api, const struct operands *operands, struct fault *fault) {
	const char *wait_text = operands_get_or(operands, "wait", "60"), *run = operands_get(operands, "run");
	cleanup_free char *plan = NULL;
	uint64_t wait = 0;
	char path[96];
	unsigned status;
	size_t size;
	int r;

	(void)number_parse(wait_text, WAIT_MAX, &wait);
	snprintf(path, sizeof(path), "plan?wait=%s%s%s", wait_text, run ? "&run=" : "", run ? run : "");
	struct call call = {
		.method = "GET",
		.path = path,
		.answer_max = PLAN_BYTES_MAX,
		.answer_ns = (int64_t)wait * SECOND + THINK_NS,
		.give_up = clock_now() + (int64_t)wait * SECOND,
	};
	r = api_call(api, &call, &status, &plan, &size, fault);
	if (r < 0)
		return r;
	if (status == 200)
		return store(operands, plan, size, fault);
	if (status == 204) {
		puts(api_has_claim(api) ? "waiting" : "unchanged");
		return 0;
	}
	if (status == 401 || status == 403)
		puts("denied");
	return api_refused(status, plan, fault);
}

enum exit_code verb_plan(const struct operands *operands) {
	cleanup_with(api_close) struct api api = {0};
	struct fault fault;
	int r = api_open(operands, &api, &fault);

	if (r == 0)
		r = request_plan(&api, operands, &fault);
	return r < 0 ? fault_print(&fault, "plan") : CODE_DONE;
}
