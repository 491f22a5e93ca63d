// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/border.h"
#include "base/cleanup.h"
#include "boot/find.h"
#include "verbs/verbs.h"

const struct operand_rule bootentry_rules[] = {
	{"root", true, "folder where the installed system is mounted", NULL, NULL},
	{"boot", false, "folder where its /boot is mounted, if it is separate", NULL, NULL},
	{"esp", false, "folder where its EFI system partition is mounted", NULL, NULL},
	{"firmware", false, "of this machine; without it what depends on it is refused", "efi|bios", NULL},
	{0},
};

static int open_if(const char *folder, struct border *ret, struct fault *fault) {
	return folder ? border_open(folder, ret, fault) : 0;
}

static int find(const struct operands *operands, struct bootable *ret, struct fault *fault) {
	cleanup_with(border_close) struct border root = {.fd = -1}, separate = {.fd = -1}, esp = {.fd = -1};
	const char *boot = operands_get(operands, "boot"), *firmware = operands_get(operands, "firmware");
	int r = border_open(operands_get(operands, "root"), &root, fault);
	const struct border inside = {.fd = root.fd, .prefix = "/boot"};
	struct boot_places places = {.root = &root, .separate = boot != NULL};

	if (r == 0)
		r = open_if(boot, &separate, fault);
	if (r == 0)
		r = open_if(operands_get(operands, "esp"), &esp, fault);
	if (r < 0)
		return r;
	places.boot = boot ? &separate : &inside;
	places.esp = esp.fd >= 0 ? &esp : NULL;
	places.platform = firmware ? strcmp(firmware, "efi") ? "pc" : "efi" : NULL;
	return boot_find(&places, ret, fault);
}

// Prints "loader=NAME entry=ID device=UUID=... kernel=PATH initrd=PATH[,PATH] arguments=...".
enum exit_code verb_bootentry(const struct operands *operands) {
	cleanup_with(bootable_free) struct bootable found = {0};
	cleanup_with(text_free) struct text line = {0};
	struct fault fault;

	if (find(operands, &found, &fault) < 0)
		return fault_print(&fault, "bootentry");
	operand_write(&line, "loader", found.loader);
	operand_write(&line, "entry", found.entry);
	operand_write(&line, "device", found.device);
	operand_write(&line, "kernel", found.kernel);
	operand_write(&line, "initrd", text_string(&found.initrds));
	operand_write(&line, "arguments", text_string(&found.arguments));
	return puts(text_string(&line) + 1) < 0 || fflush(stdout) ? CODE_FAILED : CODE_DONE;
}
