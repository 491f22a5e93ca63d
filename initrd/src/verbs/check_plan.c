// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "verbs/verbs.h"

enum exit_code verb_check_plan(int count, char **words) {
	cleanup_free char *data = NULL;
	struct fault fault;
	size_t size = 0;
	int r;

	if (count != 1) {
		fputs("check-plan: one file is required, or - for standard input\n", stderr);
		return CODE_USAGE;
	}
	r = !strcmp(words[0], "-") ? file_read_fd(STDIN_FILENO, PLAN_BYTES_MAX, &data, &size)
				   : file_read(words[0], PLAN_BYTES_MAX, &data, &size);
	if (r < 0) {
		fault_errno(&fault, r == -EFBIG ? CODE_USAGE : CODE_FAILED, r, "%s", words[0]);
		return fault_print(&fault, "check-plan");
	}
	if (plan_check(data, size, &fault) < 0)
		return fault_print(&fault, "check-plan");
	return CODE_DONE;
}
