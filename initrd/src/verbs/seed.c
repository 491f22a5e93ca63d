// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

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

const struct operand_rule job_rules[] = {
	API_RULES,
	{"job", true, "id of the job", NULL, check_job},
	{"out", true, "tar file, readable only by its owner", NULL, NULL},
	{0},
};

// One response of a server, within two minutes.
static int request(struct api *api, const char *path, unsigned *ret_status, char **ret_body, size_t *ret_size,
		   struct fault *fault) {
	struct call call = {
		.method = "GET",
		.path = path,
		.answer_max = SEED_MAX,
		.answer_ns = 15 * SECOND,
		.give_up = clock_now() + 120 * SECOND,
	};

	return api_call(api, &call, ret_status, ret_body, ret_size, fault);
}

// Waits while the files are withheld, and reports why as the detail of the step. `what` is the verb.
static int fetch(struct api *api, const char *what, const char *path, const char *out, struct fault *fault) {
	int64_t give_up = clock_now() + WITHHELD_NS;
	bool reported = false;

	for (;;) {
		cleanup_free char *tar = NULL;
		unsigned status;
		size_t size;
		int r = request(api, path, &status, &tar, &size, fault);

		if (r < 0)
			return r;
		if (status == 200) {
			r = file_write_atomic(out, 0600, tar, size);
			return r < 0 ? fault_errno(fault, CODE_FAILED, r, "%s", out) : 0;
		}
		r = api_refused(status, tar, fault);
		if (status != WITHHELD || clock_now() + api->withheld_ns >= give_up)
			return r;
		if (!reported) {
			printf("detail waited for the %s: %s\n", what, fault->text);
			fflush(stdout);
			fault_print(fault, what);
		}
		reported = true;
		clock_wait_until(clock_now() + api->withheld_ns);
	}
}

static enum exit_code fetch_files(const struct operands *operands, const char *what, const char *path) {
	cleanup_with(api_close) struct api api = {0};
	struct fault fault;
	int r = api_open(operands, &api, &fault);

	if (r == 0)
		r = fetch(&api, what, path, operands_get(operands, "out"), &fault);
	return r < 0 ? fault_print(&fault, what) : CODE_DONE;
}

enum exit_code verb_seed(const struct operands *operands) { return fetch_files(operands, "seed", "seed"); }

enum exit_code verb_job(const struct operands *operands) {
	char path[64];
	snprintf(path, sizeof(path), "job?job=%s", operands_get(operands, "job"));
	return fetch_files(operands, "job", path);
}
