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
