// SPDX-License-Identifier: Apache-2.0
// GUID partition tables (UEFI specification, 5.3). Pure functions over sectors; all numbers of blocks are LBAs.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/partition_type.h"

#define GPT_ENTRIES_MAX 1024u // entries of a table that is accepted
#define GPT_ENTRIES_BYTES_MAX (256u * 1024)
#define GPT_HEADER_BYTES 92u

// Offsets within an entry, which starts with the GUID of its type; the name is UTF-16, little-endian.
#define GPT_ENTRY_GUID 16u
#define GPT_ENTRY_START 32u
#define GPT_ENTRY_END 40u
#define GPT_ENTRY_NAME 56u
#define GPT_NAME_BYTES 72u

struct gpt {
	uint32_t sector; // bytes
	uint64_t disk_sectors;
	uint64_t own, other; // where this header and its copy are
	uint64_t first_usable, last_usable, entries;
	uint32_t entry_count, entry_bytes, entries_crc;
	uint8_t guid[16], revision[4];
};

uint32_t gpt_crc(const uint8_t *data, size_t size);

// Reads the header in the sector at `lba`. Returns -EBADMSG if there is none, or it is damaged or for another place;
// -EOPNOTSUPP if it is larger than the limits above.
int gpt_read(const uint8_t *header, uint32_t sector, uint64_t lba, uint64_t disk_sectors, struct gpt *ret);

size_t gpt_entries_size(const struct gpt *gpt); // bytes, whole sectors

// Returns -EBADMSG if the CRC does not fit; -ERANGE if it fits, but a partition is not in the usable range.
int gpt_check_entries(const struct gpt *gpt, const uint8_t *entries);

// Sets the first and last LBA of entry `i`. Returns false if it is unused.
bool gpt_partition(const struct gpt *gpt, const uint8_t *entries, uint32_t i, uint64_t *ret_start, uint64_t *ret_end);

enum partition_type gpt_type(const struct gpt *gpt, const uint8_t *entries, uint32_t i);

// Returns whether entry `i` belongs to Windows' Logical Disk Manager.
bool gpt_is_dynamic(const struct gpt *gpt, const uint8_t *entries, uint32_t i);

// Sets the first LBA of the partition that ends last, and the first behind it. Returns its number, from 1; 0: none.
unsigned gpt_last(const struct gpt *gpt, const uint8_t *entries, uint64_t *ret_start, uint64_t *ret_end);

// Extends the table to the end of the disk; with a `limit`, also the partition that ends last: to a multiple of 1 MiB
// that is not behind that LBA. 0: it stays as it is. Sets *ret_bytes to its size if it has grown, else to 0. Returns
// -ENOSPC if the disk is too small for the table's copy.
int gpt_grow(struct gpt *gpt, uint8_t *entries, uint64_t limit, uint64_t *ret_bytes);

// Writes the first header, or its copy at the disk's end, into one sector.
void gpt_write(const struct gpt *gpt, bool copy, uint8_t *ret_sector);
uint64_t gpt_entries_at(const struct gpt *gpt, bool copy); // LBA of the entries that go with it
