// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "boot/find.h"

// Sets the entry of each grub.cfg, which must agree. Returns 0, -ENOENT if there is none, or an error of code 3.
int find_grub(const struct boot_places *places, struct bootable *ret, struct fault *fault);

// Of a bootable: the files of an entry below one of these folders. Returns an error of code 3 if one is missing.
struct entry;
int bootable_take(const struct entry *entry, const char *loader, const struct border *const *folders, size_t count,
		  struct bootable *ret, struct fault *fault);
