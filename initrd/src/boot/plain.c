// SPDX-License-Identifier: Apache-2.0
#include "boot/plain.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
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

static char *read_below(const struct border *root, const char *name) {
	struct fault ignored;
	char *file = NULL;
	return border_read(root, name, FILE_MAX, &file, NULL, &ignored) == 0 ? file : NULL;
}

// The arguments of kernel-install; else the root of fstab and the arguments of GRUB's configuration.
static int find_arguments(const struct border *root, struct text *text) {
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

// The newest so far; `context`: NAME_MAX + 1 bytes.
static int newest_kernel(const char *path, void *context) {
	const char *name = strrchr(path, '/') + 1;
	char *newest = context;

	if (!strstr(name, "rescue") && (!*newest || strverscmp(version_of(name), version_of(newest)) > 0))
		snprintf(newest, NAME_MAX + 1, "%s", name);
	return 0;
}

static bool find_kernel(const struct border *boot, char ret[NAME_MAX + 1]) {
	static const char *const patterns[] = {"vmlinuz*", "vmlinux-*", "Image-*"};
	struct fault ignored;

	*ret = 0;
	for (size_t i = 0; i < ELEMENTS(patterns); i++)
		(void)border_match(boot, patterns[i], BORDER_FILES, newest_kernel, ret, &ignored);
	return *ret;
}

// How distributions name the initrd of a kernel version: the parts before and after the version.
static int add_initrd(const struct border *boot, const char *version, struct entry *entry) {
	static const char *const forms[][2] = {
		{"initrd.img-", ""}, {"initramfs-", ".img"}, {"initrd-", ""}, {"initramfs-", ""}};

	for (size_t i = 0; i < ELEMENTS(forms); i++) {
		char name[NAME_MAX + 32];
		struct fault ignored;
		cleanup_close int fd = -1;

		snprintf(name, sizeof(name), "%s%s%s", forms[i][0], version, forms[i][1]);
		fd = border_file(boot, name, &ignored);
		if (fd != -ENOENT) // of any kind: the kernel is not started without it
			return entry_add_initrd(entry, name) ? 0 : -ENOMEM;
	}
	return 0; // some kernels need none
}

int plain_find(const struct border *root, const struct border *boot, struct entries *ret) {
	char kernel[NAME_MAX + 1];
	struct entry *entry;
	int r;

	if (!find_kernel(boot, kernel))
		return -ENOENT;
	if (!(entry = entries_add(ret)) || !(entry->kernel = strdup(kernel)))
		return -ENOMEM;
	r = add_initrd(boot, version_of(kernel), entry);
	return r == 0 ? find_arguments(root, &entry->arguments) : r;
}
