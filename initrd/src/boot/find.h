// SPDX-License-Identifier: Apache-2.0
// What the boot loader of the system installed below a directory starts, without a person at its menu.
#pragma once

#include "base/border.h"
#include "base/fault.h"
#include "base/text.h"

struct boot_places {
	const struct border *root, *boot, *esp; // esp: NULL if it is not mounted
	bool separate;				// /boot is another filesystem than the root
	const char *platform;			// GRUB's name of the firmware; NULL: unknown
};

struct bootable {
	const char *loader;  // "grub", "systemd-boot"
	char *entry;	     // its id
	char *kernel;	     // a path without links, below the root, /boot or the ESP
	char *device;	     // the filesystem of the kernel, as the loader names it: "UUID=..."; "": unknown
	struct text initrds; // such paths, joined by ","
	struct text arguments;
};

// Returns an error of code 3, with the reason, if it cannot be known or starts no Linux. It never guesses.
int boot_find(const struct boot_places *places, struct bootable *ret, struct fault *fault);
void bootable_free(struct bootable *bootable);
