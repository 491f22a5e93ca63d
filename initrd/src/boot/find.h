// SPDX-License-Identifier: Apache-2.0
// Kernel, initrd and arguments of the system installed below a directory.
#pragma once

#include "base/border.h"
#include "base/fault.h"
#include "base/text.h"

struct bootable {
	char *kernel;	     // a path without links, below the root or /boot
	struct text initrds; // such paths, joined by ","
	struct text arguments;
};

// `boot` is the system's /boot, part of its root or mounted separately. Tries BLS entries, then grub.cfg, then the
// newest kernel of /boot. Returns an error of code 3 if none of them leads to a kernel.
int boot_find(const struct border *root, const struct border *boot, struct bootable *ret, struct fault *fault);
void bootable_free(struct bootable *bootable);
