// SPDX-License-Identifier: Apache-2.0
#include "pack/sector.h"

#include <errno.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "disk/mbr.h"
#include "pack/probe.h"

#define LARGE 4096u

// What the partitions start at with one size of sectors.
struct hits {
	unsigned entries, known, blank; // known: something is recognised; blank: zeros
	bool is_outside;		// one of them would not fit the disk
};

// An extended partition starts with a link.
static void look_at(const struct reader *reader, uint64_t at, bool is_extended, uint8_t *head, struct hits *hits) {
	size_t size = reader->bytes - at < PROBE_HEAD ? (size_t)(reader->bytes - at) : PROBE_HEAD;
	struct probe found;
	struct fault ignored;

	if (reader_read(reader, head, size, at, &ignored) < 0)
		return;
	probe(head, size, head, 0, &found);
	hits->known += is_extended ? size >= SECTOR && mbr_is_signed(head) : found.is_known;
	hits->blank += is_zero(head, size);
}

static struct hits count_hits(const struct reader *reader, const uint8_t *first, uint32_t sector, uint8_t *head) {
	struct hits hits = {0};
	struct mbr_entry entry;

	for (unsigned i = 0; i < MBR_ENTRIES; i++) {
		if (!mbr_entry(first, i, &entry))
			continue;
		hits.entries++;
		if (((uint64_t)entry.start + entry.count) * sector > reader->bytes)
			hits.is_outside = true;
		else
			look_at(reader, (uint64_t)entry.start * sector, mbr_is_extended(entry.type), head, &hits);
	}
	return hits;
}

// Sectors of 4,096 need more than a hit: what is found there may be left of something that was deleted. One entry alone
// proves nothing if there is something at its place with 512 too.
static int decide(const struct reader *reader, const struct hits *small, const struct hits *large, uint32_t *ret,
		  struct fault *fault) {
	bool all = large->known == large->entries, none = small->known == 0;

	*ret = SECTOR;
	if (large->is_outside || large->known == 0 || small->known > large->known)
		return 0;
	if (all && none && (large->entries > 1 || small->blank == 1)) {
		*ret = LARGE;
		return 0;
	}
	return fault_set(fault, CODE_UNSUPPORTED,
			 "%s: its partitions may be those of sectors of 512 bytes or of 4096: state which it has with "
			 "sector=",
			 reader->name);
}

static int compare(const struct reader *reader, uint32_t *ret, struct fault *fault) {
	cleanup_free uint8_t *head = aligned_alloc(READ_ALIGN, PROBE_HEAD);
	uint8_t first[512];
	struct hits small, large;
	int r = head ? reader_read(reader, first, sizeof(first), 0, fault)
		     : fault_errno(fault, CODE_FAILED, ENOMEM, "%s", reader->name);

	if (r < 0)
		return r;
	small = count_hits(reader, first, SECTOR, head);
	large = count_hits(reader, first, LARGE, head);
	return decide(reader, &small, &large, ret, fault);
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
