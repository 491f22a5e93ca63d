// SPDX-License-Identifier: Apache-2.0
#include "boot/find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "boot/bls.h"
#include "boot/find_grub.h"
#include "boot/systemd.h"

struct reading {
	const struct border *border;
	struct entries entries;
	struct text images;
	struct fault *fault;
};

// The loader's names for what it finds by itself: it reads no file of such a name.
static bool is_own_name(const char *name) { return !strncmp(name, "auto-", strlen("auto-")); }

static int add_type1(const char *path, void *context) {
	struct reading *reading = context;
	const char *name = strrchr(path, '/') + 1;
	cleanup_free char *file = NULL, *id = strndup(name, strlen(name) - strlen(".conf"));
	char located[PATH_MAX];
	struct entry *entry;
	int r;

	if (is_own_name(name))
		return 0;
	r = id ? border_read_any(reading->border, path, MENU_BYTES_MAX, &file, reading->fault)
	       : fault_errno(reading->fault, CODE_FAILED, ENOMEM, "%s", path);
	if (r < 0 || !file)
		return r;
	r = bls_parse(file, id, &reading->entries);
	if (r < 0)
		return r;
	entry = &reading->entries.items[reading->entries.count - 1];
	entry->place = reading->border;
	r = systemd_read_tries(entry);
	if (r < 0)
		return r;
	// The loader leaves out what it cannot find.
	if (entry->kernel ? !border_locate(reading->border, entry->kernel, located) : !entry->other)
		entries_remove(&reading->entries, reading->entries.count - 1);
	else if (entry->other && !strcmp(entry->other, "architecture"))
		entries_remove(&reading->entries, reading->entries.count - 1);
	return 0;
}

static int add_image(const char *path, void *context) {
	struct reading *reading = context;
	text_addf(&reading->images, "%s%s", reading->images.size ? "/" : "", strrchr(path, '/') + 1);
	return 0;
}

static int read_place(struct reading *reading, const struct border *border, struct fault *fault) {
	int r;

	reading->border = border;
	reading->fault = fault;
	r = border_match(border, "loader/entries/*.[Cc][Oo][Nn][Ff]", BORDER_FILES, add_type1, reading, fault);
	if (r == 0)
		r = border_match(border, "[Ee][Ff][Ii]/[Ll][Ii][Nn][Uu][Xx]/*.[Ee][Ff][Ii]", BORDER_FILES, add_image,
				 reading, fault);
	return r == -E2BIG ? fault_set(fault, CODE_UNSUPPORTED, "loader/entries has more than %u entries", ENTRIES_MAX)
			   : r;
}

// *ret: NULL if there is none.
static int read_conf(const struct boot_places *places, char **ret, struct fault *fault) {
	const struct border *folders[] = {places->esp, places->boot};
	int r = 0;

	for (size_t i = 0; i < ELEMENTS(folders) && r == 0 && !*ret; i++)
		if (folders[i])
			r = border_read_any(folders[i], "loader/loader.conf", MENU_BYTES_MAX, ret, fault);
	return r;
}

static int choose(struct reading *reading, const char *conf, struct bootable *ret, struct fault *fault) {
	cleanup_with(text_free) struct text reason = {0};
	struct entry *entry = NULL;
	int r = systemd_find(&reading->entries, text_string(&reading->images), conf, &entry, &reason);

	if (r < 0)
		return fault_set(fault, CODE_UNSUPPORTED, "systemd-boot: %s", text_string(&reason));
	return bootable_take(entry, "systemd-boot", &entry->place, 1, ret, fault);
}

static int count(const char *path, void *context) {
	(void)path;
	(*(unsigned *)context)++;
	return 0;
}

// Returns whether there is such a file, or a negative errno.
static int has(const struct border *border, const char *pattern, struct fault *fault) {
	unsigned found = 0;
	int r = border ? border_match(border, pattern, BORDER_FILES, count, &found, fault) : 0;

	return r < 0 ? r : found > 0;
}

// Returns -ENOENT if the loader is missing.
static int find_systemd(const struct boot_places *places, bool alone, struct bootable *ret, struct fault *fault) {
	static const char program[] = "[Ee][Ff][Ii]/[Ss][Yy][Ss][Tt][Ee][Mm][Dd]/*[Bb][Oo][Oo][Tt]*";
	struct reading reading = {0};
	cleanup_free char *conf = NULL;
	int r = read_conf(places, &conf, fault), found = conf || alone;

	if (r == 0 && !found)
		r = found = has(places->esp, program, fault);
	if (r == 0 && !found)
		r = found = has(places->boot, program, fault);
	if (r < 0)
		return r;
	if (!found)
		return -ENOENT;
	r = read_place(&reading, places->boot, fault);
	if (r == 0 && places->esp)
		r = read_place(&reading, places->esp, fault);
	if (r == 0 && !conf && reading.entries.count == 0 && !reading.images.size)
		r = -ENOENT;
	else if (r == 0)
		r = choose(&reading, conf, ret, fault);
	entries_free(&reading.entries);
	text_free(&reading.images);
	return r;
}

// Loaders of which no more than the name is known here: *ret is that of the first, or NULL.
static int other_loader(const struct boot_places *places, const char **ret, struct fault *fault) {
	static const char *const others[][2] = {
		{"extlinux/extlinux.conf", "extlinux"},
		{"syslinux/syslinux.cfg", "syslinux"},
		{"extlinux.conf", "extlinux"},
		{"grub/menu.lst", "GRUB 0.97"},
		{"limine*.conf", "Limine"},
		{"refind_linux.conf", "rEFInd"},
	};

	int r = 0;

	*ret = NULL;
	for (size_t i = 0; r == 0 && i < ELEMENTS(others); i++) {
		r = has(places->boot, others[i][0], fault);
		*ret = r > 0 ? others[i][1] : NULL;
	}
	if (r == 0) {
		r = has(places->esp, "[Ee][Ff][Ii]/refind/refind*.efi", fault);
		*ret = r > 0 ? "rEFInd" : NULL;
	}
	return r < 0 ? r : 0;
}

int boot_find(const struct boot_places *places, struct bootable *ret, struct fault *fault) {
	cleanup_with(bootable_free) struct bootable grub = {0}, systemd = {0};
	const char *other;
	int r = other_loader(places, &other, fault), s;

	if (r < 0)
		return r;
	r = find_grub(places, &grub, fault);
	if (r < 0 && r != -ENOENT)
		return r;
	s = find_systemd(places, r == -ENOENT && !other, &systemd, fault);
	if (s < 0 && s != -ENOENT)
		return s;
	if (r == 0 && s == 0)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "both GRUB and systemd-boot are installed; which one starts is not known here");
	if (r < 0 && s < 0)
		return other ? fault_set(fault, CODE_UNSUPPORTED, "the boot loader %s is not known here", other)
			     : fault_set(fault, CODE_UNSUPPORTED,
					 "no boot loader was found: neither GRUB's grub.cfg "
					 "nor entries of systemd-boot");
	*ret = r == 0 ? grub : systemd;
	*(r == 0 ? &grub : &systemd) = (struct bootable){0};
	return 0;
}
