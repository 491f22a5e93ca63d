// SPDX-License-Identifier: Apache-2.0
#include "disk/gpt.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"

#define MEBIBYTE (1u << 20)

// clang-format off
// Header: offsets of the fields.
enum { SIGNATURE = 0, REVISION = 8, SIZE = 12, CRC = 16, OWN = 24, OTHER = 32, FIRST = 40, LAST = 48, GUID = 56,
       ENTRIES = 72, COUNT = 80, ENTRY_SIZE = 84, ENTRIES_CRC = 88 };
// clang-format on

// Entry: offsets of the fields.
enum { TYPE = 0, START = GPT_ENTRY_START, END = GPT_ENTRY_END };

static const uint8_t unused[16];

uint32_t gpt_crc(const uint8_t *data, size_t size) {
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < size; i++) {
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static bool header_is_whole(const uint8_t *header, uint32_t sector) {
	uint8_t copy[4096];
	uint32_t size = get_le32(header + SIZE);

	if (memcmp(header + SIGNATURE, "EFI PART", 8) || size < GPT_HEADER_BYTES || size > sector ||
	    size > sizeof(copy))
		return false;
	memcpy(copy, header, size);
	memset(copy + CRC, 0, 4);
	return gpt_crc(copy, size) == get_le32(header + CRC);
}

static uint64_t entries_sectors(const struct gpt *gpt) { return gpt_entries_size(gpt) / gpt->sector; }

static bool places_are_right(const struct gpt *gpt) {
	uint64_t n = gpt->disk_sectors, need = entries_sectors(gpt);

	return gpt->first_usable >= 2 && gpt->first_usable <= gpt->last_usable && gpt->last_usable < n &&
	       gpt->entries >= 2 && gpt->entries < n && need <= n - gpt->entries &&
	       (gpt->entries + need <= gpt->first_usable || gpt->entries > gpt->last_usable);
}

int gpt_read(const uint8_t *header, uint32_t sector, uint64_t lba, uint64_t disk_sectors, struct gpt *ret) {
	struct gpt gpt = {.sector = sector, .disk_sectors = disk_sectors};

	if (!header_is_whole(header, sector))
		return -EBADMSG;
	gpt.own = get_le64(header + OWN);
	gpt.other = get_le64(header + OTHER);
	gpt.first_usable = get_le64(header + FIRST);
	gpt.last_usable = get_le64(header + LAST);
	gpt.entries = get_le64(header + ENTRIES);
	gpt.entry_count = get_le32(header + COUNT);
	gpt.entry_bytes = get_le32(header + ENTRY_SIZE);
	gpt.entries_crc = get_le32(header + ENTRIES_CRC);
	memcpy(gpt.guid, header + GUID, sizeof(gpt.guid));
	memcpy(gpt.revision, header + REVISION, sizeof(gpt.revision));
	if (gpt.own != lba || gpt.entry_bytes < 128 || gpt.entry_count < 1)
		return -EBADMSG;
	if (gpt.entry_count > GPT_ENTRIES_MAX || gpt.entry_bytes % 128 || gpt.entry_bytes > 4096 ||
	    (uint64_t)gpt.entry_count * gpt.entry_bytes > GPT_ENTRIES_BYTES_MAX)
		return -EOPNOTSUPP;
	if (!places_are_right(&gpt))
		return -EBADMSG;
	*ret = gpt;
	return 0;
}

size_t gpt_entries_size(const struct gpt *gpt) {
	size_t bytes = (size_t)gpt->entry_count * gpt->entry_bytes;
	return (bytes + gpt->sector - 1) / gpt->sector * gpt->sector;
}

static bool is_used(const uint8_t *entry) { return memcmp(entry + TYPE, unused, sizeof(unused)) != 0; }

int gpt_check_entries(const struct gpt *gpt, const uint8_t *entries) {
	if (gpt_crc(entries, (size_t)gpt->entry_count * gpt->entry_bytes) != gpt->entries_crc)
		return -EBADMSG;
	for (uint32_t i = 0; i < gpt->entry_count; i++) {
		const uint8_t *entry = entries + (size_t)i * gpt->entry_bytes;
		uint64_t start = get_le64(entry + START), end = get_le64(entry + END);
		if (is_used(entry) && (start < gpt->first_usable || end > gpt->last_usable || end < start))
			return -ERANGE;
	}
	return 0;
}

bool gpt_partition(const struct gpt *gpt, const uint8_t *entries, uint32_t i, uint64_t *ret_start, uint64_t *ret_end) {
	const uint8_t *entry = entries + (size_t)i * gpt->entry_bytes;

	*ret_start = get_le64(entry + START);
	*ret_end = get_le64(entry + END);
	return is_used(entry);
}

enum partition_type gpt_type(const struct gpt *gpt, const uint8_t *entries, uint32_t i) {
	return partition_type_gpt(entries + (size_t)i * gpt->entry_bytes + TYPE);
}

bool gpt_is_dynamic(const struct gpt *gpt, const uint8_t *entries, uint32_t i) {
	static const char data[] = "\xa0\x60\x9b\xaf\x31\x14\x62\x4f\xbc\x68\x33\x11\x71\x4a\x69\xad";
	static const char metadata[] = "\xaa\xc8\x08\x58\x8f\x7e\xe0\x42\x85\xd2\xe1\xe9\x04\x34\xcf\xb3";
	const uint8_t *entry = entries + (size_t)i * gpt->entry_bytes;

	return !memcmp(entry + TYPE, data, 16) || !memcmp(entry + TYPE, metadata, 16);
}

unsigned gpt_last(const struct gpt *gpt, const uint8_t *entries, uint64_t *ret_start, uint64_t *ret_end) {
	unsigned number = 0;

	for (uint32_t i = 0; i < gpt->entry_count; i++) {
		const uint8_t *entry = entries + (size_t)i * gpt->entry_bytes;
		if (!is_used(entry) || (number && get_le64(entry + END) < *ret_end))
			continue;
		number = i + 1;
		*ret_start = get_le64(entry + START);
		*ret_end = get_le64(entry + END) + 1;
	}
	return number;
}

int gpt_grow(struct gpt *gpt, uint8_t *entries, uint64_t limit, uint64_t *ret_bytes) {
	uint64_t need = entries_sectors(gpt) + 1, align = MEBIBYTE / gpt->sector, usable, start = 0, last_end = 0, end;
	unsigned number = gpt_last(gpt, entries, &start, &last_end);

	*ret_bytes = 0;
	if (gpt->own != 1)
		// read from the copy; some boards keep a loader at block 2 and their entries elsewhere
		gpt->entries = 2;
	if (gpt->entries + need - 1 > gpt->first_usable)
		return -ENOSPC;
	if (gpt->disk_sectors < need || gpt->disk_sectors - need <= gpt->first_usable)
		return -ENOSPC;
	usable = gpt->disk_sectors - need - 1;
	if (number && last_end > usable + 1)
		return -ENOSPC;
	end = (limit < usable + 1 ? limit : usable + 1) / align * align;
	if (number && end > last_end) {
		put_le64(entries + (size_t)(number - 1) * gpt->entry_bytes + END, end - 1);
		*ret_bytes = (end - start) * gpt->sector;
	}
	gpt->last_usable = usable;
	gpt->own = 1;
	gpt->other = gpt->disk_sectors - 1;
	gpt->entries_crc = gpt_crc(entries, (size_t)gpt->entry_count * gpt->entry_bytes);
	return 0;
}

uint64_t gpt_entries_at(const struct gpt *gpt, bool copy) {
	return copy ? gpt->disk_sectors - 1 - entries_sectors(gpt) : gpt->entries;
}

void gpt_write(const struct gpt *gpt, bool copy, uint8_t *ret_sector) {
	memset(ret_sector, 0, gpt->sector);
	memcpy(ret_sector + SIGNATURE, "EFI PART", 8);
	memcpy(ret_sector + REVISION, gpt->revision, sizeof(gpt->revision));
	put_le32(ret_sector + SIZE, GPT_HEADER_BYTES);
	put_le64(ret_sector + OWN, copy ? gpt->other : gpt->own);
	put_le64(ret_sector + OTHER, copy ? gpt->own : gpt->other);
	put_le64(ret_sector + FIRST, gpt->first_usable);
	put_le64(ret_sector + LAST, gpt->last_usable);
	memcpy(ret_sector + GUID, gpt->guid, sizeof(gpt->guid));
	put_le64(ret_sector + ENTRIES, gpt_entries_at(gpt, copy));
	put_le32(ret_sector + COUNT, gpt->entry_count);
	put_le32(ret_sector + ENTRY_SIZE, gpt->entry_bytes);
	put_le32(ret_sector + ENTRIES_CRC, gpt->entries_crc);
	put_le32(ret_sector + CRC, gpt_crc(ret_sector, GPT_HEADER_BYTES));
}
