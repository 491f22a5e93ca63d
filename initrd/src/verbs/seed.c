// SPDX-License-Identifier: Apache-2.0
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "net/api.h"
#include "verbs/verbs.h"

#define SEED_MAX (1u << 20) // contract/report.md

const struct operand_rule seed_rules[] = {
	API_RULES,
	{"out", true, "tar file, readable only by its owner", NULL, NULL},
	{0},
};

static int fetch(struct api *api, const char *out, struct fault *fault) {
	struct call call = {
		.method = "GET",
		.path = "seed",
		.answer_max = SEED_MAX,
		.answer_ns = 15 * SECOND,
		.give_up = clock_now() + 120 * SECOND,
	};
	cleanup_free char *tar = NULL;
	unsigned status;
	size_t size;
	int r = api_call(api, &call, &status, &tar, &size, fault);

	if (r < 0)
		return r;
	if (status != 200)
		return api_refused(status, tar, fault);
	r = file_write_atomic(out, 0600, tar, size);
	return r < 0 ? fault_errno(fault, CODE_FAILED, r, "%s", out) : 0;
}

enum exit_code verb_seed(const struct operands *operands) {
	cleanup_with(api_close) struct api api = {0};
	struct fault fault;
	int r = api_open(operands, &api, &fault);

	if (r == 0)
		r = fetch(&api, operands_get(operands, "out"), &fault);
	return r < 0 ? fault_print(&fault, "seed") : CODE_DONE;
}
