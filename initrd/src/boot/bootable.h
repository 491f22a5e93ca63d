// SPDX-License-Identifier: Apache-2.0
// A system that can be started, and where it is looked for.
#pragma once

#include "base/border.h"
#include "base/fault.h"
#include "base/text.h"
#include "boot/entry.h"

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

// The files of an entry below one of these folders. Returns an error of code 3 if one is missing.
int bootable_take(const struct entry *entry, const char *loader, const struct border *const *folders, size_t count,
		  struct bootable *ret, struct fault *fault);
void bootable_free(struct bootable *bootable);
