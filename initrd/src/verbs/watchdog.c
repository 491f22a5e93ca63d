// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/watchdog.h"
#include "verbs/verbs.h"

const struct operand_rule watchdog_rules[] = {
	{"driver", true, "kernel module of its driver, such as iTCO_wdt", NULL, NULL},
	{"seconds", false, "timeout to arm it with (default 300)", NULL, check_watchdog},
	{"state", false, "find it, arm it and stop it again, arm it, or stop it (default find)", "find|try|on|off",
	 NULL},
	{"root", false, "read sysfs and devices below this directory", NULL, NULL},
	{0},
};

// Prints the timeout that the watchdog accepted.
static int arm(const char *device, const char *seconds, struct fault *fault) {
	int took = 0, r = watchdog_arm(device, atoi(seconds), &took, fault);
	if (r == 0)
		printf("%d\n", took);
	return r;
}

static int stop(const char *root, const char *device, struct fault *fault) {
	int r = watchdog_stop(root, device, fault);
	if (r > 0)
		printf("%s is in use: not stopped\n", device);
	return r < 0 ? r : 0;
}

enum exit_code verb_watchdog(const struct operands *operands) {
	const char *root = operands_get_or(operands, "root", ""), *state = operands_get_or(operands, "state", "find");
	const char *seconds = operands_get_or(operands, "seconds", "300");
	struct fault fault;
	char device[128];
	int r = watchdog_find(root, operands_get(operands, "driver"), device, sizeof(device), &fault);

	if (r == 0 && !strcmp(state, "find"))
		puts(device);
	if (r == 0 && (!strcmp(state, "try") || !strcmp(state, "on")))
		r = arm(device, seconds, &fault);
	if (r == 0 && (!strcmp(state, "try") || !strcmp(state, "off")))
		r = stop(root, device, &fault);
	return r < 0 ? fault_print(&fault, "watchdog") : CODE_DONE;
}
