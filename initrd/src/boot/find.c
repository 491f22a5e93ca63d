// SPDX-License-Identifier: Apache-2.0
#include "boot/find.h"

#include <string.h>

#include "base/cleanup.h"
#include "boot/bls.h"
#include "boot/grub.h"
#include "boot/plain.h"

void bootable_free(struct bootable *bootable) {
	free(bootable->kernel);
	text_free(&bootable->initrds);
	text_free(&bootable->arguments);
	*bootable = (struct bootable){0};
}

// The loader's paths begin at the file system that holds /boot: a separate one, or the root.
static bool locate(const struct border *root, const struct border *boot, const char *path, char ret[PATH_MAX]) {
	return border_locate(boot, path, ret) || border_locate(root, path, ret);
}

// False: a file of the entry is missing.
static bool take_entry(const struct entry *entry, const struct border *root, const struct border *boot,
		       struct bootable *ret) {
	cleanup_with(bootable_free) struct bootable found = {0};
	char path[PATH_MAX];

	if (!entry->kernel || !locate(root, boot, entry->kernel, path) || !(found.kernel = strdup(path)))
		return false;
	for (size_t i = 0; i < entry->initrd_count; i++) {
		if (!locate(root, boot, entry->initrds[i], path))
			return false;
		text_addf(&found.initrds, "%s%s", i ? "," : "", path);
	}
	text_add(&found.arguments, entry->arguments.data, entry->arguments.size);
	if (found.initrds.failed || found.arguments.failed)
		return false;
	*ret = found;
	found = (struct bootable){0};
	return true;
}

// Small, and must be a regular file; else it does not count.
static bool read_menu(const struct border *boot, const char *path, char **ret) {
	struct fault ignored;
	return border_read(boot, path, MENU_BYTES_MAX, ret, NULL, &ignored) == 0;
}

static void load_environment(const struct border *boot, struct variables *variables) {
	static const char *const names[] = {"grub/grubenv", "grub2/grubenv"};

	for (size_t i = 0; i < ELEMENTS(names); i++) {
		cleanup_free char *block = NULL;
		if (read_menu(boot, names[i], &block))
			variables_load(variables, block);
	}
}

struct bls {
	const struct border *boot;
	const struct variables *variables;
	struct entries entries;
};

// A file that cannot be read, or is no entry, is skipped.
static int read_bls_entry(const char *path, void *context) {
	const char *name = strrchr(path, '/') + 1;
	cleanup_free char *file = NULL, *id = strndup(name, strlen(name) - strlen(".conf"));
	struct bls *bls = context;

	if (id && read_menu(bls->boot, path, &file))
		(void)bls_parse(file, id, bls->variables, &bls->entries);
	return 0;
}

static bool find_bls(const struct border *root, const struct border *boot, const struct variables *variables,
		     struct bootable *ret) {
	struct bls bls = {boot, variables, {0}};
	struct fault ignored;
	bool found = false;

	(void)border_match(boot, "loader/entries/*.conf", BORDER_FILES, read_bls_entry, &bls, &ignored);
	bls_sort(&bls.entries);
	for (size_t i = 0; i < bls.entries.count && !found; i++)
		found = take_entry(&bls.entries.items[i], root, boot, ret);
	entries_free(&bls.entries);
	return found;
}

static bool find_grub(const struct border *root, const struct border *boot, struct variables *variables,
		      struct bootable *ret) {
	static const char *const names[] = {"grub/grub.cfg", "grub2/grub.cfg"};

	for (size_t i = 0; i < ELEMENTS(names); i++) {
		cleanup_with(entries_free) struct entries entries = {0};
		cleanup_free char *script = NULL;
		const struct entry *entry;

		if (!read_menu(boot, names[i], &script) || grub_parse(script, variables, &entries) < 0)
			continue;
		entry = grub_default(&entries, variables_get(variables, "default", strlen("default")));
		if (entry && take_entry(entry, root, boot, ret))
			return true;
	}
	return false;
}

static bool find_plain(const struct border *root, const struct border *boot, struct bootable *ret) {
	cleanup_with(entries_free) struct entries entries = {0};
	return plain_find(root, boot, &entries) == 0 && take_entry(&entries.items[0], root, boot, ret);
}

int boot_find(const struct border *root, const struct border *boot, struct bootable *ret, struct fault *fault) {
	cleanup_with(variables_free) struct variables variables = {0};

	load_environment(boot, &variables);
	if (!find_bls(root, boot, &variables, ret) && !find_grub(root, boot, &variables, ret) &&
	    !find_plain(root, boot, ret))
		return fault_set(fault, CODE_UNSUPPORTED, "no boot entry of the system names an existing kernel");
	if (ret->arguments.size > ARGUMENTS_MAX) {
		bootable_free(ret);
		return fault_set(fault, CODE_UNSUPPORTED, "the kernel arguments are longer than %u bytes",
				 ARGUMENTS_MAX);
	}
	return 0;
}
