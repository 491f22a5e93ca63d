// SPDX-License-Identifier: Apache-2.0
#include "node/hello.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/operand.h"
#include "node/facts.h"

#define ID_MAX 64u	   // bytes of a boot id
#define VALUE_LONGEST 256u // bytes of a value of the firmware

int hello_check_nic(const char *value, struct fault *fault) {
	bool right = strlen(value) == 17;

	for (size_t i = 0; right && i < 17; i++)
		right = i % 3 == 2 ? value[i] == ':' : value[i] && strchr("0123456789abcdef", value[i]);
	if (!right)
		return fault_set(fault, CODE_USAGE, "\"%s\" is not a MAC address with lower-case digits and colons",
				 value);
	if (!strcmp(value, "00:00:00:00:00:00") || strchr("13579bdf", value[1]))
		return fault_set(fault, CODE_USAGE, "%s is not the MAC address of one interface", value);
	return 0;
}

// A value of the firmware, unless it is missing or does not fit: then it is left out.
static void add_dmi(const char *root, const char *file, const char *key, struct text *text) {
	cleanup_free char *value = NULL;
	char path[PATH_MAX];
	size_t n;

	snprintf(path, sizeof(path), "%s/sys/class/dmi/id/%s", root, file);
	if (file_read(path, 4096, &value, NULL) < 0)
		return;
	n = strcspn(value, "\n");
	while (n > 0 && value[n - 1] == ' ')
		n--;
	value[n] = 0;
	if (n == 0 || n > VALUE_LONGEST)
		return;
	for (size_t i = 0; i < n; i++)
		if (value[i] < ' ' || value[i] >= 0x7f)
			return;
	operand_write(text, key, value);
}

int hello_write(const char *root, const char *nic, struct text *text, struct fault *fault) {
	char id[ID_MAX + 2];
	int r = hello_check_nic(nic, fault);

	if (r < 0)
		return r;
	facts_boot_id(root, id, sizeof(id));
	if (!*id || strlen(id) > ID_MAX)
		return fault_set(fault, CODE_FAILED, "%s/proc/sys/kernel/random/boot_id holds no boot id", root);
	text_adds(text, "hello 1\nboot");
	operand_write(text, "id", id);
	operand_write(text, "nic", nic);
	add_dmi(root, "product_uuid", "uuid", text);
	add_dmi(root, "product_serial", "serial", text);
	text_adds(text, "\n");
	return text->failed ? fault_errno(fault, CODE_FAILED, ENOMEM, "hello") : 0;
}
