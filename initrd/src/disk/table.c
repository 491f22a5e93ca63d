// SPDX-License-Identifier: Apache-2.0
#include "disk/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "disk/gpt.h"
#include "disk/mbr.h"

#define FIRST_MIB ((uint64_t)1 << 20) // boot code and what it loads lie before the first partition

// Work of one disk.
struct reading {
	const struct reader *reader;
	struct table *table;
	uint64_t sectors;
	uint8_t first[512]; // MBR: also of disks with larger sectors
	uint8_t header[4096], *entries;
	struct gpt gpt;
};

static int add_partition(struct reading *r, uint64_t start, uint64_t count, enum partition_type type,
			 struct fault *fault) {
	struct table *table = r->table;

	if (table->partition_count == PARTITIONS_MAX)
		return fault_set(fault, CODE_UNSUPPORTED, "%s has more than %u partitions", r->reader->name,
				 PARTITIONS_MAX);
	if (start >= r->sectors || count > r->sectors - start)
		return fault_set(
			fault, CODE_UNSUPPORTED,
			"%s: a partition reaches to sector %llu, the disk has %llu of %u bytes: it was cut off",
			r->reader->name, (unsigned long long)(start + count), (unsigned long long)r->sectors,
			table->sector);
	table_add_type(table, type, start * table->sector, (start + count) * table->sector);
	table->partitions[table->partition_count++] = (struct partition){start * table->sector, count * table->sector};
	return 0;
}

static void add_structure(struct reading *r, uint64_t lba, uint64_t bytes) {
	uint64_t start = lba * r->table->sector;
	uint64_t end = bytes > r->reader->bytes - start ? r->reader->bytes : start + bytes;
	extents_add(&r->table->structures, start, end);
}

static void add_opaque(struct reading *r, uint64_t start, uint64_t count) {
	uint64_t end = start + count < r->sectors ? start + count : r->sectors;

	if (start < end)
		extents_add(&r->table->opaque, start * r->table->sector, end * r->table->sector);
}

// A sector of the chain as every tool writes it: a partition in the first entry, a link in the second, nothing else.
// Of others, tools and kernels disagree on what they describe.
static bool is_usual(const uint8_t *sector) {
	struct mbr_entry entries[MBR_ENTRIES];
	bool used[MBR_ENTRIES];

	for (unsigned i = 0; i < MBR_ENTRIES; i++) {
		used[i] = mbr_entry(sector, i, &entries[i]);
		if (i >= 2 && entries[i].count)
			return false;
	}
	return mbr_is_signed(sector) && !(used[0] && mbr_is_extended(entries[0].type)) &&
	       (used[1] ? mbr_is_extended(entries[1].type) : entries[1].count == 0);
}

// The logical partitions: a chain of sectors, each with one of them and the place of the next. 1: the chain is unusual.
static int read_chain(struct reading *r, const struct mbr_entry *extended, struct fault *fault) {
	uint64_t at = extended->start, end = (uint64_t)extended->start + extended->count;
	uint8_t sector[512];
	struct mbr_entry entry;
	int error = 0;

	for (unsigned i = 0; error == 0 && i <= PARTITIONS_MAX; i++) {
		error = reader_read(r->reader, sector, sizeof(sector), at * r->table->sector, fault);
		if (error < 0)
			return error;
		if (i > 0 && !mbr_is_signed(sector))
			return fault_set(fault, CODE_UNSUPPORTED,
					 "%s: its chain of logical partitions is broken at sector %llu",
					 r->reader->name, (unsigned long long)at);
		if (!is_usual(sector))
			return 1;
		add_structure(r, at, r->table->sector);
		if (mbr_entry(sector, 0, &entry))
			error = add_partition(r, at + entry.start, entry.count, partition_type_mbr(entry.type), fault);
		if (error < 0 || !mbr_entry(sector, 1, &entry) || !mbr_is_extended(entry.type))
			return error;
		at = (uint64_t)extended->start + entry.start;
		if (entry.start == 0 || at >= end)
			break;
	}
	return fault_set(fault, CODE_UNSUPPORTED, "%s: its chain of logical partitions does not end", r->reader->name);
}

static int read_extended(struct reading *r, const struct mbr_entry *extended, struct fault *fault) {
	size_t before = r->table->partition_count;
	int error = read_chain(r, extended, fault);

	if (error != 1)
		return error;
	r->table->partition_count = before;
	r->table->warning = "its extended partition is not of the usual form: all of it is kept";
	add_opaque(r, extended->start, extended->count);
	return 0;
}

static int read_mbr(struct reading *r, struct fault *fault) {
	struct mbr_entry entry;
	int error = 0;

	r->table->kind = TABLE_MBR;
	for (unsigned i = 0; error == 0 && i < MBR_ENTRIES; i++) {
		if (!mbr_entry(r->first, i, &entry) || mbr_is_dynamic(entry.type))
			add_opaque(r, entry.start, entry.count); // without a type: the start of an ISO 9660
		else if (mbr_is_extended(entry.type))
			error = read_extended(r, &entry, fault);
		else
			error = add_partition(r, entry.start, entry.count, partition_type_mbr(entry.type), fault);
	}
	return error;
}

// The GPT with its header at `lba`. -EBADMSG: none, or damaged; -ERANGE: undamaged, with an impossible partition.
static int find_gpt(struct reading *r, uint64_t lba) {
	uint32_t sector = r->table->sector;
	struct fault ignored;

	if (reader_read(r->reader, r->header, sector, lba * sector, &ignored) < 0 ||
	    gpt_read(r->header, sector, lba, r->sectors, &r->gpt) < 0 ||
	    reader_read(r->reader, r->entries, gpt_entries_size(&r->gpt), r->gpt.entries * sector, &ignored) < 0)
		return -EBADMSG;
	return gpt_check_entries(&r->gpt, r->entries);
}

static void add_gpt_structures(struct reading *r) {
	add_structure(r, r->gpt.own, r->table->sector);
	add_structure(r, r->gpt.entries, gpt_entries_size(&r->gpt));
}

static int add_gpt_partitions(struct reading *r, struct fault *fault) {
	uint64_t start, end;
	int error = 0;

	for (uint32_t i = 0; error == 0 && i < r->gpt.entry_count; i++) {
		if (!gpt_partition(&r->gpt, r->entries, i, &start, &end))
			continue;
		if (gpt_is_dynamic(&r->gpt, r->entries, i))
			add_opaque(r, start, end - start + 1);
		else
			error = add_partition(r, start, end - start + 1, gpt_type(&r->gpt, r->entries, i), fault);
	}
	return error;
}

static bool is_in_gpt(const struct reading *r, const struct mbr_entry *entry) {
	uint64_t start = (uint64_t)entry->start * r->table->sector, bytes = (uint64_t)entry->count * r->table->sector;

	for (size_t i = 0; i < r->table->partition_count; i++)
		if (r->table->partitions[i].start == start && r->table->partitions[i].bytes == bytes)
			return true;
	return false;
}

// Entries of the MBR beside the one that stands for the GPT.
static void add_hybrid(struct reading *r) {
	struct mbr_entry entry;

	for (unsigned i = 0; i < MBR_ENTRIES; i++)
		if ((!mbr_entry(r->first, i, &entry) || entry.type != MBR_GPT) && !is_in_gpt(r, &entry))
			add_opaque(r, entry.start, entry.count);
}

static int read_gpt(struct reading *r, bool first_is_whole, struct fault *fault) {
	int error = add_gpt_partitions(r, fault);
	uint64_t other = r->gpt.other, entries_end = r->gpt.entries * r->table->sector + gpt_entries_size(&r->gpt);

	add_gpt_structures(r);
	if (!first_is_whole)
		r->table->warning = "its first GPT is damaged: the copy at the end of the disk was used";
	else if (other >= r->sectors || other == 1 || find_gpt(r, other) < 0)
		r->table->warning = "the copy of its GPT is damaged or missing: grow or repair the partition table";
	else
		add_gpt_structures(r);
	if (first_is_whole && entries_end > FIRST_MIB) // as write/fit.c
		r->table->warning = "its GPT has the entries past the first MiB: only a disk of the same size takes it";
	r->table->kind = TABLE_GPT;
	add_hybrid(r);
	return error;
}

// The first GPT, or its copy at the disk's end, with sectors of that size. As find_gpt.
static int try_gpt(struct reading *r, bool is_first, uint32_t sector) {
	r->table->sector = sector;
	r->sectors = r->reader->bytes / sector;
	return r->sectors < 8 ? -EBADMSG : find_gpt(r, is_first ? 1 : r->sectors - 1);
}

// Its sector size; 0: there is none. A copy may be left of another time, so it counts only if there is no first one of
// any size: that is why sizes are the inner loop.
static int choose_gpt(struct reading *r, uint32_t given, bool *ret_first, uint32_t *ret_sector, struct fault *fault) {
	static const uint32_t sizes[] = {512, 4096};
	unsigned found = 0;

	for (int first = 1; first >= 0 && found == 0; first--)
		for (size_t i = 0; i < ELEMENTS(sizes); i++) {
			if ((given && given != sizes[i]) || try_gpt(r, first, sizes[i]) == -EBADMSG)
				continue;
			found++;
			*ret_first = first;
			*ret_sector = sizes[i];
		}
	if (found > 1)
		return fault_set(
			fault, CODE_UNSUPPORTED,
			"%s: it has a GPT for sectors of 512 bytes and one for sectors of 4096: state which it "
			"has with sector=",
			r->reader->name);
	if (found == 0)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "%s: its first sector announces a GPT, but both copies of it are damaged%s",
				 r->reader->name, given ? " with the given sector size" : "");
	return 0;
}

static int read_any_gpt(struct reading *r, uint32_t sector, struct fault *fault) {
	bool is_first = false;
	int error = choose_gpt(r, sector, &is_first, &sector, fault);

	if (error < 0)
		return error;
	if (try_gpt(r, is_first, sector) == -ERANGE) // it is not damaged: its copy may be that of another time
		return fault_set(fault, CODE_UNSUPPORTED,
				 "%s: its GPT has a partition outside of the disk: repair the table", r->reader->name);
	return read_gpt(r, is_first, fault);
}

static int read_by_kind(struct reading *r, uint32_t sector, struct fault *fault) {
	int error = reader_read(r->reader, r->first, sizeof(r->first), 0, fault);

	r->table->sector = sector ? sector : 512;
	r->sectors = r->reader->bytes / r->table->sector;
	if (error < 0)
		return error;
	switch (mbr_read(r->first, r->sectors)) {
	case MBR_PROTECTIVE: return read_any_gpt(r, sector, fault);
	case MBR_PARTITIONS: return read_mbr(r, fault);
	case MBR_NONE: break;
	}
	r->table->kind = TABLE_NONE;
	return add_partition(r, 0, r->sectors, PARTITION_SLICE, fault);
}

static int by_start(const void *a, const void *b) {
	const struct partition *x = a, *y = b;
	return (x->start > y->start) - (x->start < y->start);
}

static void add_head(struct table *table, uint64_t disk_bytes) {
	uint64_t end = disk_bytes < FIRST_MIB ? disk_bytes : FIRST_MIB;

	if (table->partition_count > 0 && table->partitions[0].start < end)
		end = table->partitions[0].start;
	extents_add(&table->structures, 0, end);
}

int table_read(const struct reader *reader, uint32_t sector, struct table *ret, struct fault *fault) {
	cleanup_free uint8_t *entries = malloc(GPT_ENTRIES_BYTES_MAX + 4096);
	cleanup_free struct reading *reading = calloc(1, sizeof(*reading));
	int r;

	*ret = (struct table){0};
	if (!entries || !reading)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "%s", reader->name);
	if (reader->bytes == 0 || reader->bytes % (sector ? sector : 512))
		return fault_set(fault, CODE_UNSUPPORTED, "%s has %llu bytes: the size of a disk is a multiple of %u",
				 reader->name, (unsigned long long)reader->bytes, sector ? sector : 512);
	reading->reader = reader;
	reading->table = ret;
	reading->entries = entries;
	r = read_by_kind(reading, sector, fault);
	if (r < 0)
		return r;
	if (reader->bytes % ret->sector)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "%s has %llu bytes, which is not a multiple of its sector size of %u", reader->name,
				 (unsigned long long)reader->bytes, ret->sector);
	qsort(ret->partitions, ret->partition_count, sizeof(ret->partitions[0]), by_start);
	add_head(ret, reader->bytes);
	extents_settle(&ret->structures);
	if (ret->structures.failed || ret->opaque.failed || ret->swaps.failed || ret->others.failed ||
	    ret->slices.failed)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "%s", reader->name);
	return 0;
}

void table_free(struct table *table) {
	extents_free(&table->structures);
	extents_free(&table->opaque);
	extents_free(&table->swaps);
	extents_free(&table->others);
	extents_free(&table->slices);
}

static bool has(const struct extents *extents, const struct partition *partition) {
	for (size_t i = 0; i < extents->count; i++)
		if (extents->items[i].start == partition->start &&
		    extents->items[i].end == partition->start + partition->bytes)
			return true;
	return false;
}

enum partition_type table_type(const struct table *table, const struct partition *partition) {
	if (has(&table->others, partition))
		return PARTITION_OTHER;
	if (has(&table->slices, partition))
		return PARTITION_SLICE;
	return has(&table->swaps, partition) ? PARTITION_SWAP : PARTITION_ANY;
}

void table_add_type(struct table *table, enum partition_type type, uint64_t start, uint64_t end) {
	switch (type) {
	case PARTITION_SWAP: extents_add(&table->swaps, start, end); break;
	case PARTITION_OTHER: extents_add(&table->others, start, end); break;
	case PARTITION_SLICE: extents_add(&table->slices, start, end); break;
	case PARTITION_ANY: break;
	}
}
