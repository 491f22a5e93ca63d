// SPDX-License-Identifier: Apache-2.0
#include "boot/find_grub.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "boot/bls.h"
#include "boot/grub.h"
#include "boot/grub_commands.h"

// A grub.cfg: its folder, and where that is.
struct menu {
	const struct boot_places *places;
	const struct border *border;
	char *folder;
	int failed; // the error of a file that could not be read: what it has is not known
	struct fault fault;
};

static char *read_any(struct menu *menu, const struct border *border, const char *path) {
	struct fault fault;
	char *data;
	int r = border_read_any(border, path, MENU_BYTES_MAX, &data, &fault);

	if (r < 0) {
		menu->failed = r;
		menu->fault = fault;
	}
	return r < 0 ? NULL : data;
}

static char *read_own(void *context, const char *name) {
	struct menu *menu = context;
	cleanup_with(text_free) struct text path = {0};

	text_addf(&path, "%s/%s", menu->folder, name);
	return read_any(menu, menu->border, text_string(&path));
}

struct reading {
	struct menu *menu;
	struct entries *entries;
};

static int read_bls(const char *path, void *context) {
	struct reading *reading = context;
	const char *name = strrchr(path, '/') + 1;
	cleanup_free char *file = read_any(reading->menu, reading->menu->places->boot, path);
	cleanup_free char *id = strndup(name, strlen(name) - strlen(".conf"));

	if (!file)
		return 0;
	return id ? bls_parse(file, id, reading->entries) : -ENOMEM;
}

static int add_bls(void *context, struct entries *entries) {
	struct menu *menu = context;
	cleanup_with(entries_free) struct entries found = {0};
	struct fault fault;
	int r = border_match(menu->places->boot, "loader/entries/*.conf", BORDER_FILES, read_bls,
			     &(struct reading){menu, &found}, &fault);

	if (r == 0)
		r = bls_for_grub(&found);
	for (size_t i = 0; r == 0 && i < found.count; i++) {
		struct entry *entry = entries_add(entries);
		if (!entry)
			return -E2BIG;
		*entry = found.items[i];
		found.items[i] = (struct entry){0};
	}
	return r;
}

// A path of a filesystem whose root is the subvolume that "rootflags=subvol=NAME" mounts starts with its name.
static const char *strip_subvolume(const struct entry *entry, const char *path) {
	const char *flags = strstr(text_string(&entry->arguments), "rootflags="), *end, *name;
	size_t size;

	if (!flags)
		return path;
	end = flags + strcspn(flags, " ");
	name = strstr(flags, "subvol=");
	if (!name || name >= end)
		return path;
	name += strlen("subvol=");
	name += *name == '/';
	size = strcspn(name, ", ");
	return *path == '/' && !strncmp(path + 1, name, size) && path[1 + size] == '/' ? path + 1 + size : path;
}

static int strip(struct entry *entry) {
	char *kernel = strdup(strip_subvolume(entry, entry->kernel));

	free(entry->kernel);
	entry->kernel = kernel;
	for (size_t i = 0; kernel && i < entry->initrd_count; i++) {
		char *initrd = strdup(strip_subvolume(entry, entry->initrds[i]));
		free(entry->initrds[i]);
		entry->initrds[i] = initrd;
		if (!initrd)
			return -ENOMEM;
	}
	return kernel ? 0 : -ENOMEM;
}

static int prepare(struct menu *menu, struct variables *variables, const char *script) {
	const char *platform = menu->places->platform;
	cleanup_free char *block = strstr(script, "load_env") ? NULL : read_own(menu, "grubenv");
	struct text none = {0};
	struct run run = {.variables = variables, .reason = &none};

	if (!run_set_defaults(variables))
		return -ENOMEM;
	if (platform && !variables_set(variables, "grub_platform", strlen("grub_platform"), platform))
		return -ENOMEM;
	return block ? run_load(&run, block, MODE_RUN) : 0;
}

// Returns 1 if the file is a stub that starts another one.
static int evaluate(struct menu *menu, struct bootable *ret, struct fault *fault) {
	const struct boot_places *places = menu->places;
	const struct border *const folders[] = {places->separate ? places->boot : places->root, places->root};
	const struct grub_source source = {read_own, add_bls, menu};
	cleanup_with(variables_free) struct variables variables = {0};
	cleanup_with(entries_free) struct entries entries = {0};
	cleanup_with(text_free) struct text reason = {0};
	cleanup_free char *script = read_own(menu, "grub.cfg");
	struct entry *entry = NULL;
	int r = script ? prepare(menu, &variables, script) : -ENOTSUP;

	if (r == 0)
		r = grub_find(script, &variables, &source, &entries, &entry, &reason);
	if (menu->failed) {
		*fault = menu->fault;
		return menu->failed;
	}
	if (r == GRUB_HANDS_OVER)
		return 1;
	if (r == 0)
		r = strip(entry);
	if (r == -ENOTSUP)
		return fault_set(fault, CODE_UNSUPPORTED, "%s/grub.cfg: %s", menu->folder,
				 reason.size ? text_string(&reason) : "it cannot be read");
	if (r < 0)
		return fault_errno(fault, CODE_FAILED, r, "%s/grub.cfg", menu->folder);
	return bootable_take(entry, "grub", folders, ELEMENTS(folders), ret, fault);
}

static bool agree(const struct bootable *a, const struct bootable *b) {
	return !strcmp(a->kernel, b->kernel) && !strcmp(text_string(&a->initrds), text_string(&b->initrds)) &&
	       !strcmp(text_string(&a->arguments), text_string(&b->arguments));
}

struct search {
	const struct boot_places *places;
	const struct border *border;
	struct bootable *ret;
	struct fault *fault;
	bool found;
};

static int visit(const char *path, void *context) {
	struct search *search = context;
	cleanup_with(bootable_free) struct bootable one = {0};
	cleanup_free char *folder = strndup(path, (size_t)(strrchr(path, '/') - path));
	struct menu menu = {.places = search->places, .border = search->border, .folder = folder};
	int r = folder ? evaluate(&menu, &one, search->fault)
		       : fault_errno(search->fault, CODE_FAILED, ENOMEM, "%s", path);

	if (r)
		return r < 0 ? r : 0;
	if (search->found && !agree(search->ret, &one))
		return fault_set(search->fault, CODE_UNSUPPORTED,
				 "several grub.cfg start different kernels; which one GRUB reads is not known here");
	if (!search->found) {
		*search->ret = one;
		one = (struct bootable){0};
	}
	search->found = true;
	return 0;
}

int find_grub(const struct boot_places *places, struct bootable *ret, struct fault *fault) {
	struct search search = {places, places->boot, ret, fault, false};
	int r = border_match(places->boot, "grub*/grub.cfg", BORDER_FILES, visit, &search, fault);

	search.border = places->esp;
	if (r == 0 && places->esp)
		r = border_match(places->esp, "[Ee][Ff][Ii]/*/grub.cfg", BORDER_FILES, visit, &search, fault);
	return r < 0 ? r : search.found ? 0 : -ENOENT;
}
