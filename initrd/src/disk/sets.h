// SPDX-License-Identifier: Apache-2.0
// Sets of disks that belong together (contract/plan.md): "md:UUID,lvm:ID". Pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SETS_MAX 256u // bytes that the sets of a disk have, with the NUL

// Adds a set, unless it is there. One that does not fit leaves "*", which is the same as any. Of `id` only letters,
// digits and "-._" are taken; empty: "*".
void sets_add(char sets[SETS_MAX], const char *type, const char *id);

// Returns whether two disks have a set in common, the first of which is written to `ret`.
bool sets_share(const char *a, const char *b, char *ret, size_t size);
