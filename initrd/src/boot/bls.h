// SPDX-License-Identifier: Apache-2.0
// Boot Loader Specification, type 1: one file for each entry. Pure functions.
#pragma once

#include "boot/entry.h"

// Adds the entry of one file to the list, as written; `name` is the file's name without ".conf". -E2BIG if there are
// too many, or -ENOMEM.
int bls_parse(const char *file, const char *name, struct entries *entries);

// Sorts the entries as GRUB's command blscfg does, and sets their `body` to the script that it makes. Those without a
// kernel are removed.
int bls_for_grub(struct entries *entries);
