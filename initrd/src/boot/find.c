// SPDX-License-Identifier: Apache-2.0
#include "boot/find.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
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
static char *locate(const char *root, const char *boot, const char *path) {
	const char *const places[] = {boot, root};

	for (size_t i = 0; i < ELEMENTS(places); i++) {
		char *whole = NULL;
		struct stat st;
		if (asprintf(&whole, "%s/%s", places[i], path + strspn(path, "/")) < 0)
			return NULL;
		// A comma would split the list of initrds.
		if (!strchr(whole, ',') && stat(whole, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
			return whole;
		free(whole);
	}
	return NULL;
}

// False: a file of the entry is missing.
static bool take_entry(const struct entry *entry, const char *root, const char *boot, struct bootable *ret) {
	cleanup_with(bootable_free) struct bootable found = {0};

	if (!entry->kernel || !(found.kernel = locate(root, boot, entry->kernel)))
		return false;
	for (size_t i = 0; i < entry->initrd_count; i++) {
		cleanup_free char *initrd = locate(root, boot, entry->initrds[i]);
		if (!initrd)
			return false;
		text_addf(&found.initrds, "%s%s", i ? "," : "", initrd);
	}
	text_add(&found.arguments, entry->arguments.data, entry->arguments.size);
	if (found.initrds.failed || found.arguments.failed)
		return false;
	*ret = found;
	found = (struct bootable){0};
	return true;
}

static void load_environment(const char *boot, struct variables *variables) {
	static const char *const names[] = {"grub/grubenv", "grub2/grubenv"};

	for (size_t i = 0; i < ELEMENTS(names); i++) {
		cleanup_free char *block = NULL;
		char path[PATH_MAX];
		snprintf(path, sizeof(path), "%s/%s", boot, names[i]);
		if (file_read(path, MENU_BYTES_MAX, &block, NULL) == 0)
			variables_load(variables, block);
	}
}

static void read_bls_entry(const char *directory, const char *name, const struct variables *variables,
			   struct entries *entries) {
	const char *dot = strrchr(name, '.');
	cleanup_free char *file = NULL, *id = NULL;
	char path[PATH_MAX];

	if (!dot || strcmp(dot, ".conf"))
		return;
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	id = strndup(name, (size_t)(dot - name));
	// A file that cannot be read, or is no entry, is skipped.
	if (id && file_read(path, MENU_BYTES_MAX, &file, NULL) == 0)
		(void)bls_parse(file, id, variables, entries);
}

static bool find_bls(const char *root, const char *boot, const struct variables *variables, struct bootable *ret) {
	cleanup_with(entries_free) struct entries entries = {0};
	cleanup_dir DIR *dir = NULL;
	char directory[PATH_MAX];
	struct dirent *entry;
	bool found = false;

	snprintf(directory, sizeof(directory), "%s/loader/entries", boot);
	dir = opendir(directory);
	while (dir && (entry = readdir(dir)))
		read_bls_entry(directory, entry->d_name, variables, &entries);
	bls_sort(&entries);
	for (size_t i = 0; i < entries.count && !found; i++)
		found = take_entry(&entries.items[i], root, boot, ret);
	return found;
}

static bool find_grub(const char *root, const char *boot, struct variables *variables, struct bootable *ret) {
	static const char *const names[] = {"grub/grub.cfg", "grub2/grub.cfg"};

	for (size_t i = 0; i < ELEMENTS(names); i++) {
		cleanup_with(entries_free) struct entries entries = {0};
		cleanup_free char *script = NULL;
		char path[PATH_MAX];
		const struct entry *entry;

		snprintf(path, sizeof(path), "%s/%s", boot, names[i]);
		if (file_read(path, MENU_BYTES_MAX, &script, NULL) < 0 || grub_parse(script, variables, &entries) < 0)
			continue;
		entry = grub_default(&entries, variables_get(variables, "default", strlen("default")));
		if (entry && take_entry(entry, root, boot, ret))
			return true;
	}
	return false;
}

static bool find_plain(const char *root, const char *boot, struct bootable *ret) {
	cleanup_with(entries_free) struct entries entries = {0};
	return plain_find(root, boot, &entries) == 0 && take_entry(&entries.items[0], root, boot, ret);
}

int boot_find(const char *root, const char *boot, struct bootable *ret, struct fault *fault) {
	cleanup_with(variables_free) struct variables variables = {0};

	load_environment(boot, &variables);
	if (!find_bls(root, boot, &variables, ret) && !find_grub(root, boot, &variables, ret) &&
	    !find_plain(root, boot, ret))
		return fault_set(fault, CODE_UNSUPPORTED, "no kernel below %s: no boot entry names an existing one",
				 boot);
	if (ret->arguments.size > ARGUMENTS_MAX) {
		bootable_free(ret);
		return fault_set(fault, CODE_UNSUPPORTED, "the kernel arguments are longer than %u bytes",
				 ARGUMENTS_MAX);
	}
	return 0;
}
