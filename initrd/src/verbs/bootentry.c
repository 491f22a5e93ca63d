// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "base/border.h"
#include "base/cleanup.h"
#include "boot/find.h"
#include "verbs/verbs.h"

const struct operand_rule bootentry_rules[] = {
	{"root", true, "folder where the installed system is mounted", NULL, NULL},
	{"boot", false, "folder where its /boot is mounted, if it is separate", NULL, NULL},
	{0},
};

static int find(const struct operands *operands, struct bootable *ret, struct fault *fault) {
	cleanup_with(border_close) struct border root = {.fd = -1}, separate = {.fd = -1};
	const char *boot = operands_get(operands, "boot");
	int r = border_open(operands_get(operands, "root"), &root, fault);

	if (r == 0 && boot)
		r = border_open(boot, &separate, fault);
	if (r < 0)
		return r;
	return boot_find(&root, boot ? &separate : &(struct border){.fd = root.fd, .prefix = "/boot"}, ret, fault);
}

// Prints "kernel=PATH initrd=PATH[,PATH] arguments=...".
enum exit_code verb_bootentry(const struct operands *operands) {
	cleanup_with(bootable_free) struct bootable found = {0};
	cleanup_with(text_free) struct text line = {0};
	struct fault fault;

	if (find(operands, &found, &fault) < 0)
		return fault_print(&fault, "bootentry");
	operand_write(&line, "kernel", found.kernel);
	operand_write(&line, "initrd", text_string(&found.initrds));
	operand_write(&line, "arguments", text_string(&found.arguments));
	return puts(text_string(&line) + 1) < 0 || fflush(stdout) ? CODE_FAILED : CODE_DONE;
}
