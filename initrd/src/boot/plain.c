// SPDX-License-Identifier: Apache-2.0
#include "boot/plain.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "node/os.h"

#define FILE_MAX 65536u

int plain_root_argument(const char *fstab, struct text *text) {
	while (*fstab) {
		char what[256], where[256];
		if (sscanf(fstab, "%255s %255s", what, where) == 2 && *what != '#' && !strcmp(where, "/")) {
			text_addf(text, "root=%s ro", what);
			return text->failed ? -ENOMEM : 0;
		}
		fstab += strcspn(fstab, "\n");
		fstab += *fstab == '\n';
	}
	return -ENOENT;
}

static char *read_below(const char *root, const char *name) {
	char path[PATH_MAX], *file = NULL;
	snprintf(path, sizeof(path), "%s/%s", root, name);
	return file_read(path, FILE_MAX, &file, NULL) == 0 ? file : NULL;
}

// The arguments of kernel-install; else the root of fstab and the arguments of GRUB's configuration.
static int find_arguments(const char *root, struct text *text) {
	static const char *const names[] = {"etc/kernel/cmdline", "usr/lib/kernel/cmdline"};
	cleanup_free char *fstab = read_below(root, "etc/fstab"), *grub = read_below(root, "etc/default/grub");
	char words[1024] = "";
	int r;

	for (size_t i = 0; i < ELEMENTS(names); i++) {
		cleanup_free char *line = read_below(root, names[i]);
		if (line && strcspn(line, "\n") > 0) {
			text_add(text, line, strcspn(line, "\n"));
			return 0;
		}
	}
	r = fstab ? plain_root_argument(fstab, text) : -ENOENT;
	if (r == 0 && grub)
		os_release_value(grub, "GRUB_CMDLINE_LINUX", words, sizeof(words));
	if (*words)
		text_addf(text, " %s", words);
	return r;
}

static const char *version_of(const char *kernel) {
	const char *dash = strchr(kernel, '-');
	return dash ? dash + 1 : "";
}

static bool find_kernel(const char *boot, char *ret, size_t size) {
	cleanup_dir DIR *dir = opendir(boot);
	struct dirent *entry;

	*ret = 0;
	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		bool kernel = !strncmp(name, "vmlinuz", 7) || !strncmp(name, "vmlinux-", 8) ||
			      !strncmp(name, "Image-", 6);
		if (kernel && !strstr(name, "rescue") && (!*ret || strverscmp(version_of(name), version_of(ret)) > 0))
			snprintf(ret, size, "%s", name);
	}
	return *ret;
}

// How distributions name the initrd of a kernel version: the parts before and after the version.
static int add_initrd(const char *boot, const char *version, struct entry *entry) {
	static const char *const forms[][2] = {
		{"initrd.img-", ""}, {"initramfs-", ".img"}, {"initrd-", ""}, {"initramfs-", ""}};

	for (size_t i = 0; i < ELEMENTS(forms); i++) {
		char name[NAME_MAX + 32], path[PATH_MAX];
		snprintf(name, sizeof(name), "%s%s%s", forms[i][0], version, forms[i][1]);
		snprintf(path, sizeof(path), "%s/%s", boot, name);
		if (access(path, R_OK) == 0)
			return entry_add_initrd(entry, name) ? 0 : -ENOMEM;
	}
	return 0; // some kernels need none
}

int plain_find(const char *root, const char *boot, struct entries *ret) {
	char kernel[NAME_MAX + 1];
	struct entry *entry;
	int r;

	if (!find_kernel(boot, kernel, sizeof(kernel)))
		return -ENOENT;
	if (!(entry = entries_add(ret)) || !(entry->kernel = strdup(kernel)))
		return -ENOMEM;
	r = add_initrd(boot, version_of(kernel), entry);
	return r == 0 ? find_arguments(root, &entry->arguments) : r;
}
