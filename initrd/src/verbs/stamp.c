// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "base/cleanup.h"
#include "disk/stamp.h"
#include "verbs/verbs.h"

const struct operand_rule stamp_rules[] = {
	{"disk", true, "the disk (disk selector)", NULL, check_selector},
	{"keep", false, "disks that are never touched (disk selectors joined by ;)", NULL, check_keep},
	{"stamp", true, "FLEET/EPOCH/MAC/GENERATION/RUN", NULL, check_stamp},
	{0},
};

// A disk without room for a stamp is a line "detail TEXT" for the report, and no failure.
enum exit_code verb_stamp(const struct operands *operands) {
	cleanup_with(device_close) struct device device = {.fd = -1};
	cleanup_with(text_free) struct text list = {0};
	struct fault fault;
	int r = device_open(operands_get(operands, "disk"), operands_get(operands, "keep"), &device, &list, &fault);

	if (r < 0)
		fputs(text_string(&list), stderr);
	else
		r = stamp_put(&device, operands_get(operands, "stamp"), &fault);
	if (r < 0 && device.fd >= 0 && fault.code == CODE_UNSUPPORTED) {
		printf("detail no stamp: %s\n", fault.text);
		return CODE_DONE;
	}
	return r < 0 ? fault_print(&fault, "stamp") : CODE_DONE;
}
