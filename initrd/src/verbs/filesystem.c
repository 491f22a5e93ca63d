// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "base/cleanup.h"
#include "disk/filesystem.h"
#include "verbs/verbs.h"

const struct operand_rule filesystem_rules[] = {
	{"device", true, "partition or disk; its filesystems are printed, one per line, nothing if there is none", NULL,
	 NULL},
	{"uuid", false, "only a filesystem with this UUID is printed", NULL, NULL},
	{"label", false, "only a filesystem with this label is printed", NULL, NULL},
	{"partuuid", false, "only a filesystem in the partition with this UUID is printed", NULL, NULL},
	{"partlabel", false, "only a filesystem in the partition with this name is printed", NULL, NULL},
	{0},
};

enum exit_code verb_filesystem(const struct operands *operands) {
	const struct filesystem_name name = {operands_get(operands, "uuid"), operands_get(operands, "label"),
					     operands_get(operands, "partuuid"), operands_get(operands, "partlabel")};
	cleanup_with(text_free) struct text types = {0};
	struct fault fault;

	if (filesystem_read(operands_get(operands, "device"), &name, &types, &fault) < 0)
		return fault_print(&fault, "filesystem");
	return fputs(text_string(&types), stdout) < 0 || fflush(stdout) ? CODE_FAILED : CODE_DONE;
}
