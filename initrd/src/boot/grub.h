// SPDX-License-Identifier: Apache-2.0
// grub.cfg: the entries of its menu and which one is the default. Pure. The script is read, not run: what stands under
// a condition counts as if it held, and a "set" of nothing is ignored.
#pragma once

#include "boot/entry.h"
#include "boot/variables.h"

// -E2BIG: nested deeper, or more entries, than any menu has. `variables` comes with the environment block's.
int grub_parse(const char *script, struct variables *variables, struct entries *ret);

// The entry that "default" means (a number, title or id; parts of a path joined by ">"), else the first one with a
// kernel. NULL when there is none.
const struct entry *grub_default(const struct entries *entries, const char *wish);
