// SPDX-License-Identifier: Apache-2.0
// Kernel, initrd and arguments of the system installed below a directory.
#pragma once

#include "base/fault.h"
#include "base/text.h"

struct bootable {
	char *kernel;		 // path that can be opened
	struct text initrds;	 // such paths, joined by ","
	struct text arguments;
};

// `boot` is where the system's own /boot is mounted. Looks at BLS entries, then grub.cfg, then the newest kernel of
// /boot. Code 3 when none of them leads to a kernel.
int boot_find(const char *root, const char *boot, struct bootable *ret, struct fault *fault);
void bootable_free(struct bootable *bootable);
