// SPDX-License-Identifier: Apache-2.0
// One entry of a boot loader's menu: how an installed system is started.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

#define ENTRIES_MAX 256u // of one menu
#define INITRDS_MAX 8u	 // of one entry
#define MENU_BYTES_MAX (1u << 20)
#define ARGUMENTS_MAX 2047u // bytes: the maximum of kernels

struct border;

struct entry {
	char *title, *id, *version, *sort_key, *machine_id; // NULL: none
	char *kernel;					    // path as the loader writes it; NULL: not a Linux entry
	size_t initrd_count;
	char *initrds[INITRDS_MAX];
	struct text arguments;
	char *other; // a key that is no Linux kernel, or needs more than one; NULL: none

	// GRUB's:
	char *body;   // script
	char *device; // of the kernel: "own", "UUID=...", or a name of GRUB
	int parent;   // index of its submenu; -1: none
	bool submenu;
	bool unsure; // there only if a condition holds that cannot be known

	// systemd-boot's:
	const struct border *place; // of its files
	char *tries;		    // what counts them in its file's name: "+LEFT-DONE"; NULL: nothing
	bool exhausted;		    // it has no tries left
};

struct entries {
	size_t count;
	struct entry *items; // in the order of the menu
};

// Adds an entry at the end. Returns NULL if there is no more room.
struct entry *entries_add(struct entries *entries);
void entries_remove(struct entries *entries, size_t at);
void entries_free(struct entries *entries);

// Forgets kernel, initrds and arguments.
void entry_clear(struct entry *entry);

// Adds one path, without the prefix "(device)" of GRUB. Returns false if there is no more room.
bool entry_add_initrd(struct entry *entry, const char *path);
const char *entry_strip_device(const char *path);
