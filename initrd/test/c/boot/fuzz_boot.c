// SPDX-License-Identifier: Apache-2.0
// What an installed system's boot loader files may hold: grub.cfg, BLS entries, environment blocks, os-release.
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "boot/bls.h"
#include "boot/grub.h"
#include "boot/grub_commands.h"
#include "boot/systemd.h"
#include "boot/version.h"
#include "node/kernel_log.h"
#include "node/os.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The input is every file: it may lead to itself.
static char *read_file(void *context, const char *name) { return strcmp(name, "custom.cfg") ? NULL : strdup(context); }

static int add_entries(void *context, struct entries *entries) {
	return entries->count ? 0 : bls_parse(context, "id+1-2", entries) == 0 ? bls_for_grub(entries) : -E2BIG;
}

static void run_grub(char *file) {
	const struct grub_source source = {read_file, add_entries, file};
	struct variables variables = {0};
	struct entries entries = {0};
	struct text reason = {0};
	struct entry *entry;

	if (run_set_defaults(&variables) && grub_find(file, &variables, &source, &entries, &entry, &reason) == 0 &&
	    !entry->kernel)
		abort();
	entries_free(&entries);
	variables_free(&variables);
	text_free(&reason);
}

static void run_systemd(const char *file) {
	struct entries entries = {0};
	struct text reason = {0};
	struct entry *entry;

	if (bls_parse(file, "id+0-2", &entries) == 0 && bls_parse(file, file, &entries) == 0 &&
	    systemd_read_tries(&entries.items[0]) == 0 && systemd_read_tries(&entries.items[1]) == 0)
		(void)systemd_find(&entries, "", file, &entry, &reason);
	(void)version_compare_packages(file, "m-6.1-2");
	entries_free(&entries);
	text_free(&reason);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	char *file = strndup((const char *)data, size), value[16];
	struct text text = {0};

	run_grub(file);
	run_systemd(file);
	os_release_value(file, "ID", value, sizeof(value));
	kernel_log_line((const char *)data, size, &text);
	text_free(&text);
	free(file);
	return 0;
}
