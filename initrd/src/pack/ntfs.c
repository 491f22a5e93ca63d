// SPDX-License-Identifier: Apache-2.0
#include "pack/ntfs.h"

#include <ctype.h>
#include <string.h>

#include "base/bytes.h"

#define SECTOR 512u
#define DATA 0x80u

bool ntfs_place(const uint8_t *boot, unsigned number, struct ntfs_file *ret) {
	uint64_t cluster = (uint64_t)get_le16(boot + 11) *
			   (boot[13] > 128 ? UINT64_C(1) << (256 - boot[13]) % 32 : boot[13]);
	size_t size = boot[64] > 128 ? (size_t)1 << (256 - boot[64]) % 32 : boot[64] * (size_t)cluster;
	uint64_t table;

	if (cluster == 0 || size < 64 || size > NTFS_RECORD_MAX ||
	    __builtin_mul_overflow(get_le64(boot + 48), cluster, &table) || table > INT64_MAX)
		return false;
	*ret = (struct ntfs_file){.cluster = cluster, .at = table + number * size, .record = size};
	return true;
}

// The last two bytes of each sector of a record are kept at its start, for it to show whether all were written.
bool ntfs_repair(uint8_t *record, size_t size, const char magic[4]) {
	size_t from = get_le16(record + 4), count = get_le16(record + 6);

	if (memcmp(record, magic, 4) || count < 1 || (count - 1) * SECTOR > size || from + count * 2 > size)
		return false;
	for (size_t i = 1; i < count; i++) {
		uint8_t *last = record + i * SECTOR - 2;
		if (memcmp(last, record + from, 2))
			return false;
		memcpy(last, record + from + i * 2, 2);
	}
	return true;
}

bool ntfs_data(uint8_t *record, size_t size, struct ntfs_run *ret, uint64_t *ret_bytes) {
	size_t at;

	if (!ntfs_repair(record, size, "FILE"))
		return false;
	for (at = get_le16(record + 20); at + 64 <= size; at += get_le32(record + at + 4)) {
		const uint8_t *attribute = record + at;
		size_t bytes = get_le32(attribute + 4);
		if (bytes < 24 || bytes > size - at)
			return false;
		if (get_le32(attribute) != DATA || attribute[9] != 0)
			continue;
		if (attribute[8] != 1 || bytes < 64 || get_le64(attribute + 16) != 0 ||
		    get_le16(attribute + 32) > bytes)
			return false;
		*ret = (struct ntfs_run){.next = attribute + get_le16(attribute + 32), .end = attribute + bytes};
		*ret_bytes = get_le64(attribute + 48);
		return true;
	}
	return false;
}

bool ntfs_next_run(struct ntfs_run *run) {
	unsigned counted, moved;
	uint64_t count = 0, move = 0;

	if (run->next >= run->end || *run->next == 0)
		return false;
	counted = *run->next & 15;
	moved = *run->next >> 4;
	if (counted < 1 || counted > 8 || moved < 1 || moved > 8 || (size_t)(run->end - run->next) <= counted + moved)
		return false; // without a place, it is a hole
	for (unsigned i = counted; i > 0; i--)
		count = count << 8 | run->next[i];
	if (run->next[counted + moved] & 0x80)
		move = UINT64_MAX;
	for (unsigned i = counted + moved; i > counted; i--)
		move = move << 8 | run->next[i];
	run->next += 1 + counted + moved;
	run->cluster += move;
	run->count = count;
	return count > 0;
}

const uint8_t *ntfs_attribute(const uint8_t *record, size_t size, uint32_t type) {
	for (size_t at = get_le16(record + 20); at + 24 <= size; at += get_le32(record + at + 4)) {
		size_t bytes = get_le32(record + at + 4);
		if (bytes < 24 || bytes > size - at)
			return NULL;
		if (get_le32(record + at) == type)
			return record + at;
	}
	return NULL;
}

static bool is_name(const uint8_t *key, size_t size, const char *name) {
	size_t length = strlen(name);

	if (size < 66 + 2 * length || key[64] != length)
		return false;
	for (size_t i = 0; i < length; i++)
		if (key[66 + 2 * i + 1] != 0 || tolower(key[66 + 2 * i]) != name[i])
			return false;
	return true;
}

uint64_t ntfs_find_name(const uint8_t *entries, size_t size, const char *name) {
	for (size_t at = 0; at + 16 <= size;) {
		size_t bytes = get_le16(entries + at + 8), key = get_le16(entries + at + 10);
		if (bytes < 16 || bytes > size - at || (get_le16(entries + at + 12) & 2))
			return 0;
		if (key <= bytes - 16 && is_name(entries + at + 16, key, name))
			return get_le64(entries + at);
		at += bytes;
	}
	return 0;
}
