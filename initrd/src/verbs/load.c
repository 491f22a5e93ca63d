// SPDX-License-Identifier: Apache-2.0
// Starts another kernel: the Sled system out of a running system, or the installed system out of the Sled system.
// unload undoes load.
#include <stdio.h>

#include "base/cleanup.h"
#include "node/kexec.h"
#include "verbs/verbs.h"

const struct operand_rule load_rules[] = {
	{"kernel", true, "kernel file", NULL, NULL},
	{"initrd", false, "initrd file (default none)", NULL, NULL},
	{"arguments", true, "file with one line of kernel arguments", NULL, NULL},
	{"jump", false, "start the kernel immediately (default no)", "yes|no", NULL},
	{0},
};
const struct operand_rule unload_rules[] = {{0}};
const struct operand_rule jump_rules[] = {{0}};

static enum exit_code ended(int r, const char *verb, const struct fault *fault) {
	return r < 0 ? (enum exit_code)fault_print(fault, verb) : CODE_DONE;
}

enum exit_code verb_load(const struct operands *operands) {
	const char *kernel = operands_get(operands, "kernel"), *initrd = operands_get_or(operands, "initrd", "");
	struct fault fault;
	int r = kexec_load(&kexec_linux, kernel, *initrd ? initrd : NULL, operands_get(operands, "arguments"), &fault);

	if (r == 0)
		printf("load: %s with %s\n", kernel, *initrd ? initrd : "no initrd");
	if (r == 0 && operands_get_or(operands, "jump", "no")[0] == 'y')
		return verb_jump(NULL);
	return ended(r, "load", &fault);
}

enum exit_code verb_unload(const struct operands *operands) {
	struct fault fault;
	(void)operands;
	return ended(kexec_unload(&kexec_linux, &fault), "unload", &fault);
}

enum exit_code verb_jump(const struct operands *operands) {
	struct fault fault;
	(void)operands;
	fflush(stdout);
	return ended(kexec_jump(&kexec_linux, "/sys/kernel/kexec_loaded", "/proc/mounts", &fault), "jump", &fault);
}
