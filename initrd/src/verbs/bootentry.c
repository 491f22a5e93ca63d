// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "boot/find.h"
#include "verbs/verbs.h"

const struct operand_rule bootentry_rules[] = {
	{"root", true, "folder where the installed system is mounted", NULL, NULL},
	{"boot", false, "folder where its /boot is mounted (default ROOT/boot)", NULL, NULL},
	{0},
};

// Prints "kernel=PATH initrd=PATH[,PATH] arguments=...".
enum exit_code verb_bootentry(const struct operands *operands) {
	const char *root = operands_get(operands, "root"), *boot = operands_get(operands, "boot");
	cleanup_with(bootable_free) struct bootable found = {0};
	cleanup_with(text_free) struct text line = {0};
	cleanup_free char *usual = NULL;
	struct fault fault;

	if (!boot && asprintf(&usual, "%s/boot", root) < 0)
		return CODE_FAILED;
	if (boot_find(root, boot ? boot : usual, &found, &fault) < 0)
		return fault_print(&fault, "bootentry");
	operand_write(&line, "kernel", found.kernel);
	operand_write(&line, "initrd", text_string(&found.initrds));
	operand_write(&line, "arguments", text_string(&found.arguments));
	return puts(text_string(&line) + 1) < 0 || fflush(stdout) ? CODE_FAILED : CODE_DONE;
}
