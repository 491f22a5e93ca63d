// SPDX-License-Identifier: Apache-2.0
// How an installed system would be started: one entry of its boot loader's menu.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

#define ENTRIES_MAX 256u   // of one menu
#define INITRDS_MAX 8u	   // of one entry
#define MENU_BYTES_MAX (1u << 20)
#define ARGUMENTS_MAX 2047u // bytes: what kernels take

struct entry {
	char *title, *id, *version; // NULL where there is none
	char *kernel;		    // as the loader names it; NULL: not a Linux entry
	size_t initrd_count;
	char *initrds[INITRDS_MAX];
	struct text arguments;
	int parent;   // submenu that it is in, by index; -1: none
	bool submenu;
};

struct entries {
	size_t count;
	struct entry *items; // in the order of the menu
};

// NULL when there is no more room; else a new last entry.
struct entry *entries_add(struct entries *entries);
void entries_free(struct entries *entries);

// Adds one path, without the "(device)" that GRUB puts in front. False when there is no room.
bool entry_add_initrd(struct entry *entry, const char *path);
const char *entry_strip_device(const char *path);
