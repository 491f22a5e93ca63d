// SPDX-License-Identifier: Apache-2.0
// What an installed system's boot loader files may hold: grub.cfg, BLS entries, environment blocks, fstab, os-release.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "boot/bls.h"
#include "boot/grub.h"
#include "boot/plain.h"
#include "node/kernel_log.h"
#include "node/os.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	char *file = strndup((const char *)data, size), value[16];
	struct variables variables = {0};
	struct entries entries = {0};
	struct text text = {0};

	variables_load(&variables, file);
	if (grub_parse(file, &variables, &entries) == 0)
		(void)grub_default(&entries, variables_get(&variables, "default", 7));
	(void)bls_parse(file, "id", &variables, &entries);
	bls_sort(&entries);
	(void)plain_root_argument(file, &text);
	os_release_value(file, "ID", value, sizeof(value));
	kernel_log_line((const char *)data, size, &text);
	entries_free(&entries);
	variables_free(&variables);
	text_free(&text);
	free(file);
	return 0;
}
