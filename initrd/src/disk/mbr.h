// SPDX-License-Identifier: Apache-2.0
// Partition tables in the first sector. Pure functions over its 512 bytes.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum mbr_kind {
	MBR_NONE,	// no table, or the first sector of a filesystem
	MBR_PARTITIONS, // a separate table
	MBR_PROTECTIVE, // stands for a GPT
};

enum mbr_kind mbr_read(const uint8_t *sector, uint64_t disk_sectors);

struct mbr_entry {
	uint8_t type; // 0: unused
	uint32_t start, count;
};

#define MBR_ENTRIES 4u
#define MBR_GPT 0xee

// Sets *ret to entry `i` of a table, of the first sector or an extended partition's. Returns false if the entry is
// unused.
bool mbr_entry(const uint8_t *sector, unsigned i, struct mbr_entry *ret);
bool mbr_is_extended(uint8_t type);
bool mbr_is_dynamic(uint8_t type);	   // Windows' Logical Disk Manager
bool mbr_is_signed(const uint8_t *sector); // 55 AA

// Sets the size of the one entry that covers a GPT's disk. Returns true if this changed the sector.
bool mbr_protect(uint8_t *sector, uint64_t disk_sectors);

// Sets the first sector of the partition that ends last, and the first behind it. Returns its number from 1; 0:
// none, or an extended one.
unsigned mbr_last(const uint8_t *sector, uint64_t *ret_start, uint64_t *ret_end);

// Extends that partition to the disk's end: a multiple of 1 MiB, below 2^32 sectors, that is not behind sector `limit`.
// Returns its size in bytes; 0: it has not grown.
uint64_t mbr_grow(uint8_t *sector, uint32_t sector_bytes, uint64_t disk_sectors, uint64_t limit);
