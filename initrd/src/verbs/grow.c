// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "disk/grow.h"
#include "verbs/verbs.h"

const struct operand_rule grow_rules[] = {
	{"disk", true, "the disk (disk selector)", NULL, check_selector},
	{"keep", false, "disks that are never touched (disk selectors joined by ;)", NULL, check_keep},
	{"grow", false, "which partition grows with the table (default last)", "last|none", NULL},
	{0},
};

// Prints "partition=N bytes=N" if a partition has grown, so that the caller can grow its filesystem.
enum exit_code verb_grow(const struct operands *operands) {
	bool last = !strcmp(operands_get_or(operands, "grow", "last"), "last");
	cleanup_with(device_close) struct device device = {.fd = -1};
	cleanup_with(text_free) struct text list = {0};
	struct grown grown = {0};
	struct fault fault;
	int r = device_open(operands_get(operands, "disk"), operands_get(operands, "keep"), &device, &list, &fault);

	if (r < 0)
		fputs(text_string(&list), stderr);
	else
		r = grow_disk(&device, last, &grown, &fault);
	if (r < 0)
		return fault_print(&fault, "grow");
	if (grown.partition)
		printf("partition=%u bytes=%" PRIu64 "\n", grown.partition, grown.bytes);
	return CODE_DONE;
}
