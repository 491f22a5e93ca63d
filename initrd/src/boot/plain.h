// SPDX-License-Identifier: Apache-2.0
// A system without a readable menu: its newest kernel, with the arguments of its configuration.
#pragma once

#include "base/border.h"
#include "boot/entry.h"

// Finds one entry. Returns -ENOENT if there is no kernel, or its root file system is unknown.
int plain_find(const struct border *root, const struct border *boot, struct entries *ret);

// Adds "root=SPEC ro" for the root file system of an fstab; -ENOENT if it has none. Pure.
int plain_root_argument(const char *fstab, struct text *text);
