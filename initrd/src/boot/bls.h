// SPDX-License-Identifier: Apache-2.0
// Boot Loader Specification, type 1: one file for each entry. Pure functions.
#pragma once

#include "boot/entry.h"
#include "boot/variables.h"

// Adds the entry of one file to the list; `name` is the file's name without ".conf". -EINVAL if it names no kernel, or
// -ENOMEM.
int bls_parse(const char *file, const char *name, const struct variables *variables, struct entries *entries);

// Sorts the entries into the order in which they are tried: newest first, rescue entries last.
void bls_sort(struct entries *entries);
