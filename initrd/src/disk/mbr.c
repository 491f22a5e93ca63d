// SPDX-License-Identifier: Apache-2.0
#include "disk/mbr.h"

#include <stddef.h>
#include <string.h>

#include "base/bytes.h"

#define MEBIBYTE (1u << 20)

// Entry: offsets of the fields.
enum { FLAG = 0, TYPE = 4, LAST_CHS = 5, START = 8, COUNT = 12, ENTRY_SIZE = 16 };

static uint8_t *entry_of(uint8_t *sector, unsigned i) { return sector + 446 + (size_t)i * ENTRY_SIZE; }

bool mbr_is_extended(uint8_t type) { return type == 0x05 || type == 0x0f || type == 0x85; }

bool mbr_is_dynamic(uint8_t type) { return type == 0x42; }

bool mbr_is_signed(const uint8_t *sector) { return sector[510] == 0x55 && sector[511] == 0xaa; }

bool mbr_entry(const uint8_t *sector, unsigned i, struct mbr_entry *ret) {
	const uint8_t *entry = sector + 446 + (size_t)i * ENTRY_SIZE;

	*ret = (struct mbr_entry){
		.type = entry[TYPE], .start = get_le32(entry + START), .count = get_le32(entry + COUNT)};
	return ret->type != 0 && ret->count != 0;
}

// A boot sector of FAT or NTFS has the same signature, and text where entries would be.
static bool entry_is_sane(const uint8_t *entry, uint64_t disk_sectors) {
	if ((entry[FLAG] & 0x7f) != 0)
		return false;
	if (entry[TYPE] == 0)
		return true;
	return get_le32(entry + COUNT) > 0 && get_le32(entry + START) > 0 && get_le32(entry + START) < disk_sectors;
}

enum mbr_kind mbr_read(const uint8_t *sector, uint64_t disk_sectors) {
	enum mbr_kind kind = MBR_NONE;

	if (!mbr_is_signed(sector))
		return MBR_NONE;
	for (unsigned i = 0; i < MBR_ENTRIES; i++) {
		const uint8_t *entry = sector + 446 + (size_t)i * ENTRY_SIZE;
		if (!entry_is_sane(entry, disk_sectors))
			return MBR_NONE;
		if (entry[TYPE] == MBR_GPT)
			kind = MBR_PROTECTIVE;
		else if (entry[TYPE] && kind == MBR_NONE)
			kind = MBR_PARTITIONS;
	}
	return kind;
}

bool mbr_protect(uint8_t *sector, uint64_t disk_sectors) {
	uint64_t rest = disk_sectors - 1;
	uint32_t count = rest > UINT32_MAX ? UINT32_MAX : (uint32_t)rest;
	uint8_t *protective = NULL;

	for (unsigned i = 0; i < MBR_ENTRIES; i++) {
		uint8_t *entry = entry_of(sector, i);
		if (entry[TYPE] == 0)
			continue;
		if (entry[TYPE] != MBR_GPT || protective) // a hybrid table is left to whoever made it
			return false;
		protective = entry;
	}
	if (!protective || get_le32(protective + COUNT) == count)
		return false;
	put_le32(protective + COUNT, count);
	return true;
}

unsigned mbr_last(const uint8_t *sector, uint64_t *ret_start, uint64_t *ret_end) {
	struct mbr_entry entry, last = {0};
	unsigned number = 0;

	*ret_start = *ret_end = 0;
	for (unsigned i = 0; i < MBR_ENTRIES; i++) {
		(void)mbr_entry(sector, i, &entry);
		if (entry.type == 0 || (uint64_t)entry.start + entry.count <= *ret_end)
			continue;
		last = entry;
		*ret_start = entry.start;
		*ret_end = (uint64_t)entry.start + entry.count;
		number = i + 1;
	}
	return mbr_is_extended(last.type) ? 0 : number;
}

uint64_t mbr_grow(uint8_t *sector, uint32_t sector_bytes, uint64_t disk_sectors, uint64_t limit) {
	uint64_t align = MEBIBYTE / sector_bytes, start, last_end, end;
	unsigned number = mbr_last(sector, &start, &last_end);
	uint8_t *last = entry_of(sector, number ? number - 1 : 0);

	end = disk_sectors < limit ? disk_sectors : limit;
	end = (end > UINT32_MAX ? UINT32_MAX : end) / align * align;
	if (!number || end <= last_end)
		return 0;
	put_le32(last + COUNT, (uint32_t)(end - start));
	memcpy(last + LAST_CHS, "\xfe\xff\xff", 3); // beyond what cylinders, heads and sectors can address
	return (end - start) * sector_bytes;
}
