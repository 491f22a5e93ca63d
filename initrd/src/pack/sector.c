// SPDX-License-Identifier: Apache-2.0
#include "pack/sector.h"

#include <errno.h>

#include "base/cleanup.h"
#include "disk/mbr.h"
#include "pack/probe.h"

#define LARGE 4096u

static bool is_recognised(const struct reader *reader, uint64_t at, uint8_t *head) {
	size_t size = reader->bytes - at < PROBE_HEAD ? (size_t)(reader->bytes - at) : PROBE_HEAD;
	struct probe found;
	struct fault ignored;

	if (reader_read(reader, head, size, at, &ignored) < 0)
		return false;
	probe(head, size, head, 0, &found);
	return found.is_known;
}

// How many of the partitions start at something that is recognised; 0 if one of them would not fit the disk.
static unsigned count_recognised(const struct reader *reader, const uint8_t *first, uint32_t sector, uint8_t *head) {
	struct mbr_entry entry;
	unsigned count = 0;

	for (unsigned i = 0; i < MBR_ENTRIES; i++) {
		if (!mbr_entry(first, i, &entry))
			continue;
		if (((uint64_t)entry.start + entry.count) * sector > reader->bytes)
			return 0;
		count += is_recognised(reader, (uint64_t)entry.start * sector, head);
	}
	return count;
}

static int compare(const struct reader *reader, uint32_t *ret, struct fault *fault) {
	cleanup_free uint8_t *head = aligned_alloc(READ_ALIGN, PROBE_HEAD);
	uint8_t first[512];
	unsigned small, large;
	int r = head ? reader_read(reader, first, sizeof(first), 0, fault)
		     : fault_errno(fault, CODE_FAILED, ENOMEM, "%s", reader->name);

	if (r < 0)
		return r;
	small = count_recognised(reader, first, SECTOR, head);
	large = count_recognised(reader, first, LARGE, head);
	if (large > 0 && large == small)
		return fault_set(
			fault, CODE_UNSUPPORTED,
			"%s: its partitions hold something with sectors of 512 bytes and with sectors of 4096: state "
			"which it has with sector=",
			reader->name);
	*ret = large > small ? LARGE : SECTOR;
	return 0;
}

int sector_read_table(const struct reader *reader, uint32_t sector, struct table *ret, struct fault *fault) {
	uint32_t found = SECTOR;
	int r = table_read(reader, sector, ret, fault);

	if (r < 0 || sector || ret->kind != TABLE_MBR)
		return r;
	r = compare(reader, &found, fault);
	if (r < 0 || found == SECTOR)
		return r;
	table_free(ret);
	return table_read(reader, found, ret, fault);
}
