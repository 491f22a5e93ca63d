// SPDX-License-Identifier: Apache-2.0
// Boot Loader Specification, type 1: one file for each entry. Pure functions.
#pragma once

#include "boot/entry.h"
#include "boot/variables.h"

// Adds the entry of one file to the list; `name` is the file's name without ".conf". 0, or -ENOMEM, or -EINVAL when it
// names no kernel.
int bls_parse(const char *file, const char *name, const struct variables *variables, struct entries *entries);

// Newest first, rescue entries last: the order in which they are to be tried.
void bls_sort(struct entries *entries);
