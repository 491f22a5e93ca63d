// SPDX-License-Identifier: Apache-2.0
// Kernel, initrd and arguments of the system installed below a directory.
#pragma once

#include "base/fault.h"
#include "base/text.h"

struct bootable {
	char *kernel;	     // a path that can be opened
	struct text initrds; // paths that can be opened, joined by ","
	struct text arguments;
};

// `boot` is where the system's /boot is mounted. Tries BLS entries, then grub.cfg, then the newest kernel of /boot.
// Returns an error of code 3 if none of them leads to a kernel.
int boot_find(const char *root, const char *boot, struct bootable *ret, struct fault *fault);
void bootable_free(struct bootable *bootable);
