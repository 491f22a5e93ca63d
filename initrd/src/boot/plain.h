// SPDX-License-Identifier: Apache-2.0
// A system without a menu that could be read: its newest kernel and what its configuration says.
#pragma once

#include "boot/entry.h"

// One entry. -ENOENT: no kernel, or nothing says what its root file system is.
int plain_find(const char *root, const char *boot, struct entries *ret);

// "root=SPEC ro" for the root file system of an fstab; -ENOENT when it has none. Pure.
int plain_root_argument(const char *fstab, struct text *text);
