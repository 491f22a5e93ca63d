// SPDX-License-Identifier: Apache-2.0
#include "write/fit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "disk/gpt.h"
#include "disk/mbr.h"

// Entry of a GPT: offsets of the fields.
enum { TYPE = 0, START = 32, END = 40 };

// The GPT in the head of the image.
struct table {
	struct gpt gpt;
	uint8_t *entries; // a separate copy, whole sectors; NULL: there is no GPT
	uint64_t end;	  // bytes: where the partition that ends last ends
};

static unsigned long long wide(uint64_t n) { return n; }

int fit_check_kind(const struct index *index, bool is_partition, const char *name, struct fault *fault) {
	if (index->is_partition == is_partition)
		return 0;
	if (is_partition)
		return fault_set(
			fault, CODE_UNSUPPORTED,
			"%s: the image is of a whole disk: make one of a partition with sledc pack partition=", name);
	return fault_set(
		fault, CODE_UNSUPPORTED,
		"%s: the image is of one partition: name the partition that it replaces with partition=", name);
}

int fit_check(const struct index *index, const struct device *device, struct fault *fault) {
	int r = fit_check_kind(index, device->is_partition, device->name, fault);

	if (r < 0)
		return r;
	if (index->is_partition && device->bytes < index->bytes)
		return fault_set(fault, CODE_DISK,
				 "%s has %llu bytes, the partition that the image is of has %llu: %llu bytes too small",
				 device->name, wide(device->bytes), wide(index->bytes),
				 wide(index->bytes - device->bytes));
	if (index->sector == device->sector)
		return 0;
	return fault_set(fault, CODE_UNSUPPORTED,
			 "disk %s has sectors of %u bytes, but the image was made of a disk with sectors of %u",
			 device->name, device->sector, index->sector);
}

static int cannot_move(const struct index *index, const struct device *device, const char *why, struct fault *fault) {
	return fault_set(
		fault, CODE_UNSUPPORTED,
		"disk %s has %llu bytes; the image's GPT %s, so the image fits only on a disk of the same size, %llu",
		device->name, wide(device->bytes), why, wide(index->bytes));
}

static bool is_used(const uint8_t *entry) {
	static const uint8_t unused[16];
	return memcmp(entry + TYPE, unused, sizeof(unused)) != 0;
}

static uint8_t *entry_of(const struct table *t, uint32_t i) { return t->entries + (size_t)i * t->gpt.entry_bytes; }

static uint64_t last_end(const struct table *t) {
	uint64_t end = 0;

	for (uint32_t i = 0; i < t->gpt.entry_count; i++)
		if (is_used(entry_of(t, i)) && get_le64(entry_of(t, i) + END) >= end)
			end = get_le64(entry_of(t, i) + END) + 1;
	return end * t->gpt.sector;
}

static void table_free(struct table *t) { free(t->entries); }

static int read_table(const struct index *index, const struct device *device, const uint8_t *head, struct table *ret,
		      struct fault *fault) {
	uint64_t size = index->bytes < CHUNK ? index->bytes : CHUNK, sectors = index->bytes / index->sector;
	struct table t = {0};
	size_t entries_size;

	if (size < 2 * index->sector || mbr_read(head, sectors) != MBR_PROTECTIVE)
		return 0;
	if (gpt_read(head + index->sector, index->sector, 1, sectors, &t.gpt) < 0)
		return cannot_move(index, device, "is damaged or larger than is supported", fault);
	entries_size = gpt_entries_size(&t.gpt);
	if (t.gpt.entries > size / index->sector || entries_size > size - t.gpt.entries * index->sector)
		return cannot_move(index, device, "has its entries past the first MiB", fault);
	if (gpt_check_entries(&t.gpt, head + t.gpt.entries * index->sector) < 0)
		return cannot_move(index, device, "has damaged entries", fault);
	t.entries = malloc(entries_size);
	if (!t.entries)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "partition table");
	memcpy(t.entries, head + t.gpt.entries * index->sector, entries_size);
	t.end = last_end(&t);
	*ret = t;
	return 0;
}

static size_t copy_size(const struct table *t) { return t->entries ? gpt_entries_size(&t->gpt) + t->gpt.sector : 0; }

// Whether these sectors are the copy: a header, in the last one, with that place as its own, and before it the entries.
static bool is_copy(const struct table *t, const uint8_t *data) {
	size_t entries_size = gpt_entries_size(&t->gpt);
	struct gpt copy;

	return gpt_read(data + entries_size, t->gpt.sector, t->gpt.other, t->gpt.disk_sectors, &copy) == 0 &&
	       gpt_entries_size(&copy) == entries_size &&
	       copy.entries * copy.sector + entries_size == copy.own * copy.sector &&
	       gpt_check_entries(&copy, data) == 0;
}

// Finds the copy in the image, if it is in the usual place: after the last possible partition. Its first and its last
// granule may hold something else too.
static int find_old_copy(const struct table *t, const struct index *index, fit_read *read, void *context,
			 struct fit *fit, struct fault *fault) {
	uint64_t sectors = copy_size(t) / t->gpt.sector, at, from, end, to;
	cleanup_free uint8_t *data = NULL;
	int r;

	if (t->gpt.other >= t->gpt.disk_sectors || t->gpt.other < sectors ||
	    t->gpt.other + 1 - sectors <= t->gpt.last_usable)
		return 0;
	at = (t->gpt.other + 1 - sectors) * t->gpt.sector;
	end = at + copy_size(t);
	from = at / GRANULE * GRANULE;
	to = (end + GRANULE - 1) / GRANULE * GRANULE;
	to = to < index->bytes ? to : index->bytes;
	if (!(data = malloc(to - from)))
		return fault_errno(fault, CODE_FAILED, ENOMEM, "partition table");
	r = read(context, from, to - from, data, fault);
	if (r < 0 || !is_copy(t, data + (at - from)))
		return r;
	fit->old_at = at;
	fit->old_size = end - at;
	fit->spare_from = t->end > from || !is_zero(data, at - from) ? at : from;
	fit->spare_to = is_zero(data + (end - from), to - end) ? to : end;
	return 0;
}

// How far the granules from `start` to `end` reach, without what the old copy has for itself.
static uint64_t reach(const struct fit *fit, uint64_t start, uint64_t end) {
	if (end <= fit->spare_from || end > fit->spare_to)
		return end;
	return start < fit->spare_from ? fit->spare_from : 0;
}

static uint64_t image_reach(const struct fit *fit, const struct index *index) {
	uint64_t far = 0;

	for (uint32_t i = index->chunk_count; i-- > 0 && far <= index->chunks[i].offset;) {
		const struct chunk *chunk = &index->chunks[i];
		for (size_t from = 0, size = 0; chunk_run(index, chunk, from, &from, &size); from += size) {
			uint64_t n = reach(fit, chunk->offset + from, chunk->offset + from + size);
			far = n > far ? n : far;
		}
	}
	return far;
}

static int check_room(const struct fit *fit, const struct table *t, const struct index *index,
		      const struct device *device, struct fault *fault) {
	uint64_t far = image_reach(fit, index), need = far + copy_size(t);

	if (device->bytes >= need)
		return 0;
	if (!t->entries)
		return fault_set(fault, CODE_DISK,
				 "disk %s has %llu bytes, the image's used blocks reach to %llu: %llu bytes too small",
				 device->name, wide(device->bytes), wide(far), wide(need - device->bytes));
	return fault_set(
		fault, CODE_DISK,
		"disk %s has %llu bytes, the image's used blocks reach to %llu and the copy of its GPT takes %llu: "
		"%llu bytes too small",
		device->name, wide(device->bytes), wide(far), wide(copy_size(t)), wide(need - device->bytes));
}

// A partition with free space at its end may reach past the end of a smaller disk.
static int cut_partitions(struct table *t, const struct device *device, struct fault *fault) {
	uint64_t usable = device->bytes / t->gpt.sector - copy_size(t) / t->gpt.sector - 1;

	for (uint32_t i = 0; i < t->gpt.entry_count; i++) {
		uint8_t *entry = entry_of(t, i);
		if (!is_used(entry) || get_le64(entry + END) <= usable)
			continue;
		if (get_le64(entry + START) > usable)
			return fault_set(
				fault, CODE_DISK,
				"disk %s has %llu bytes, the image's partition %u starts past its end, at %llu",
				device->name, wide(device->bytes), i + 1,
				wide(get_le64(entry + START) * t->gpt.sector));
		put_le64(entry + END, usable);
	}
	return 0;
}

static int move_table(struct table *t, const struct index *index, const struct device *device, struct fit *fit,
		      struct fault *fault) {
	uint64_t ignored;
	int r = cut_partitions(t, device, fault);

	if (r < 0)
		return r;
	t->gpt.disk_sectors = device->bytes / t->gpt.sector;
	if (gpt_grow(&t->gpt, t->entries, 0, &ignored) < 0)
		return cannot_move(index, device, "has no room to be moved", fault);
	fit->copy_size = copy_size(t);
	fit->copy_at = device->bytes - fit->copy_size;
	fit->copy = device_buffer(fit->copy_size);
	if (!fit->copy)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "partition table");
	memcpy(fit->copy, t->entries, gpt_entries_size(&t->gpt));
	gpt_write(&t->gpt, true, fit->copy + fit->copy_size - t->gpt.sector);
	return 0;
}

static void write_head(const struct table *t, uint8_t *head) {
	(void)mbr_protect(head, t->gpt.disk_sectors);
	gpt_write(&t->gpt, false, head + t->gpt.sector);
	memcpy(head + t->gpt.entries * t->gpt.sector, t->entries, gpt_entries_size(&t->gpt));
}

// On a disk of the same size nothing moves, whatever the table is. If its copy is elsewhere than at the end, as in an
// enlarged file, `grow` makes another.
static int find_spare(const struct index *index, const struct device *device, const uint8_t *head, fit_read *read,
		      void *context, struct fit *fit, struct fault *fault) {
	cleanup_with(table_free) struct table t = {0};
	struct fault ignored;
	int r = 0;

	if (read_table(index, device, head, &t, &ignored) == 0 && t.entries)
		r = find_old_copy(&t, index, read, context, fit, fault);
	fit->old_at = fit->old_size = 0;
	return r;
}

int fit_table(const struct index *index, const struct device *device, uint8_t *head, fit_read *read, void *context,
	      struct fit *ret, struct fault *fault) {
	struct fit fit = {.limit = index->bytes < device->bytes ? index->bytes : device->bytes};
	cleanup_with(table_free) struct table t = {0};
	int r = fit_check(index, device, fault);

	if (index->is_partition) // a table in it is that of a disk in a file or a volume: nothing moves
		head = NULL;
	if (r == 0 && head && index->bytes == device->bytes)
		r = find_spare(index, device, head, read, context, &fit, fault);
	else if (r == 0 && head)
		r = read_table(index, device, head, &t, fault);
	if (r == 0 && t.entries)
		r = find_old_copy(&t, index, read, context, &fit, fault);
	if (r == 0)
		r = check_room(&fit, &t, index, device, fault);
	if (r == 0 && t.entries)
		r = move_table(&t, index, device, &fit, fault);
	if (r < 0)
		return r;
	if (t.entries) {
		write_head(&t, head);
		fit_chunk(&fit, index, &index->chunks[0], head);
	}
	*ret = fit;
	return 0;
}

void fit_free(struct fit *fit) {
	free(fit->copy);
	*fit = (struct fit){0};
}

void fit_chunk(const struct fit *fit, const struct index *index, const struct chunk *chunk, uint8_t *data) {
	uint64_t start = fit->old_at > chunk->offset ? fit->old_at : chunk->offset;
	uint64_t end = fit->old_at + fit->old_size, chunk_end = chunk->offset + chunk_size(index, chunk);

	end = end < chunk_end ? end : chunk_end;
	if (start < end)
		memset(data + (start - chunk->offset), 0, (size_t)(end - start));
}

static bool overlaps(const struct index *index, const struct chunk *chunk, uint64_t at, uint64_t size) {
	return at < chunk->offset + chunk_size(index, chunk) && chunk->offset < at + size;
}

bool fit_changes(const struct fit *fit, const struct index *index, const struct chunk *chunk) {
	return chunk->offset + chunk_size(index, chunk) > fit->limit || (fit->copy && chunk->offset == 0) ||
	       overlaps(index, chunk, fit->old_at, fit->old_size) ||
	       overlaps(index, chunk, fit->copy_at, fit->copy_size);
}

// The first chunk that ends behind `at`.
static uint32_t find_chunk(const struct index *index, uint64_t at) {
	uint32_t low = 0, high = index->chunk_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (index->chunks[middle].offset + CHUNK > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

uint64_t fit_used_from(const struct fit *fit, const struct index *index, uint64_t at) {
	for (uint32_t i = find_chunk(index, at); i < index->chunk_count; i++) {
		const struct chunk *chunk = &index->chunks[i];
		size_t from = at > chunk->offset ? (size_t)(at - chunk->offset) : 0, size;
		for (; chunk_run(index, chunk, from, &from, &size); from += size) {
			uint64_t start = chunk->offset + from, end = start + size;
			if (start >= fit->spare_from && start < fit->spare_to)
				start = fit->spare_to;
			if (start < end)
				return start;
		}
	}
	return 0;
}
