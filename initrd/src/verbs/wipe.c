// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "disk/wipe.h"
#include "verbs/verbs.h"

enum exit_code verb_wipe(const struct operands *operands) {
	bool clear = !strcmp(operands_get_or(operands, "level", "clear"), "clear");
	cleanup_with(device_close) struct device device = {.fd = -1};
	cleanup_with(text_free) struct text list = {0};
	struct progress progress = {.show = console_progress};
	struct fault fault;
	int r = device_open(operands_get(operands, "disk"), operands_get(operands, "keep"), &device, &list, &fault);

	if (r < 0)
		fputs(text_string(&list), stderr);
	else
		r = clear ? wipe_clear(&device, &progress, &fault) : wipe_signatures(&device, &progress, &fault);
	return r < 0 ? fault_print(&fault, "wipe") : CODE_DONE;
}
