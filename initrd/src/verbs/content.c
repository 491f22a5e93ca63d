// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "disk/contents.h"
#include "verbs/verbs.h"

const struct operand_rule content_rules[] = {
	{"device", true, "partition or disk, of which libblkid's type is printed, such as LVM2_member", NULL, NULL},
	{0},
};

// Code 3 if it has no signature, or several.
enum exit_code verb_content(const struct operands *operands) {
	char type[CONTENTS_TYPE];
	struct fault fault;

	if (contents_type(operands_get(operands, "device"), type, &fault) < 0)
		return fault_print(&fault, "content");
	return puts(type) < 0 || fflush(stdout) ? CODE_FAILED : CODE_DONE;
}
