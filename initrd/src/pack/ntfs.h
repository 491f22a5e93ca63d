// SPDX-License-Identifier: Apache-2.0
// Records of an NTFS's master file table. Pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NTFS_RECORD_MAX 4096u

// Where a record is, from the boot sector.
struct ntfs_file {
	uint64_t cluster; // bytes
	uint64_t at;	  // of the record
	size_t record;	  // bytes of it
};

bool ntfs_place(const uint8_t *boot, unsigned number, struct ntfs_file *ret);

// A range of clusters of a file, and where the next one is described.
struct ntfs_run {
	uint64_t cluster, count;
	const uint8_t *next, *end;
};

// Finds the unnamed data of a record, whose sectors it restores in place. Returns false if the record is damaged, or
// the data is in the record or in others.
bool ntfs_data(uint8_t *record, size_t size, struct ntfs_run *ret, uint64_t *ret_bytes);
bool ntfs_next_run(struct ntfs_run *run); // false: there is none

// Restores the sectors of a record or of a block of an index. Returns false if it is damaged.
bool ntfs_repair(uint8_t *record, size_t size, const char magic[4]);

// The first attribute of this type in a repaired record; NULL: there is none.
const uint8_t *ntfs_attribute(const uint8_t *record, size_t size, uint32_t type);

// Finds a name of ASCII letters, in any case, among the entries of an index. Returns its reference, or 0.
uint64_t ntfs_find_name(const uint8_t *entries, size_t size, const char *name);
