// SPDX-License-Identifier: Apache-2.0
// Reads the entries of grub.cfg and finds the default. Pure. The script is parsed, not run: conditions are taken as
// true, and "set NAME=" without a value is ignored.
#pragma once

#include "boot/entry.h"
#include "boot/variables.h"

// `variables` contains those of the environment block, and gets those of the script. Returns -E2BIG if it is nested
// too deeply, or has too many entries.
int grub_parse(const char *script, struct variables *variables, struct entries *ret);

// Returns the entry that `requested` names, the value of "default": a number, title or id, for submenus joined by
// ">"; else the first entry with a kernel; NULL if no entry has one.
const struct entry *grub_default(const struct entries *entries, const char *requested);
