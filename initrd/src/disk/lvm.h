// SPDX-License-Identifier: Apache-2.0
// The volume group of a physical volume of LVM2. libblkid knows only the physical volume.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/reader.h"

#define LVM_ID 64u

struct lvm_group {
	char id[LVM_ID];  // of the group; empty: the volume is in none
	unsigned volumes; // physical ones of the group
};

// Reads the metadata of the physical volume of `bytes` bytes at `start`. Returns false if it has none that can be
// read, so its group is not known.
bool lvm_read(const struct reader *reader, uint64_t start, uint64_t bytes, struct lvm_group *ret);

// Reads the text of that metadata, which must be freed; it is empty if the volume is in no group.
bool lvm_text(const struct reader *reader, uint64_t start, uint64_t bytes, char **ret);

// Parses the text of the metadata, `name { id = "..." physical_volumes { pv0 { ... } } }`. Returns false if it is
// none.
bool lvm_parse(const char *text, size_t size, struct lvm_group *ret);
