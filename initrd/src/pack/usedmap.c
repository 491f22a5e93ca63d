// SPDX-License-Identifier: Apache-2.0
#include "pack/usedmap.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "disk/disklabel.h"
#include "disk/mbr.h"
#include "pack/btrfs.h"
#include "pack/content.h"
#include "pack/free_bytes.h"
#include "pack/partclone.h"
#include "pack/unclaimed.h"
#include "pack/sector.h"
#include "pack/ufs.h"

// Work on one disk.
struct work {
	const struct reader *reader;
	const struct usedmap_order *order;
	struct usedmap *map;
};

static uint64_t end_of(const struct partition *partition) { return partition->start + partition->bytes; }

// What nothing describes: kept as far as it is not zero, or dropped.
static int add_rest(const struct work *work, uint64_t start, uint64_t end, struct fault *fault) {
	if (!work->order->drop_rest)
		return unclaimed_keep(work->reader, start, end, &work->map->kept, fault);
	work->map->dropped += end - start;
	return 0;
}

static void mark(struct usedmap *map, uint64_t byte) {
	uint64_t granule = byte / GRANULE * GRANULE;
	extents_add(&map->marks, granule, granule + GRANULE);
}

static void add_extents(struct extents *to, const struct extents *from) {
	for (size_t i = 0; i < from->count; i++)
		extents_add(to, from->items[i].start, from->items[i].end);
	to->failed |= from->failed;
}

static void keep_whole(const struct work *work, const struct partition *partition, const char *why) {
	text_addf(&work->map->warnings, "%s: partition at byte %llu: all of it is kept: %s\n", work->reader->name,
		  (unsigned long long)partition->start, why);
	extents_add(&work->map->kept, partition->start, end_of(partition));
}

// partclone's map is believed if it has as many free bytes as the filesystem itself counts.
static int prove(const struct work *work, const struct partition *partition, const char *name,
		 const struct extents *used, uint64_t bytes, struct fault *fault) {
	uint64_t declared, mapped = bytes;
	int r = free_bytes_read(work->reader, partition, name, &declared, fault);

	for (size_t i = 0; i < used->count; i++)
		mapped -= used->items[i].end - used->items[i].start;
	if (r == 1)
		return fault_set(fault, CODE_FAILED, "what it counts as free cannot be read");
	if (r == 0 && mapped != declared)
		return fault_set(fault, CODE_FAILED,
				 "its map has %llu free bytes, but it counts %llu: check it with its fsck",
				 (unsigned long long)mapped, (unsigned long long)declared);
	return r;
}

static int read_map(const struct work *work, const struct partition *partition, const char *name, struct extents *used,
		    uint64_t *ret_bytes, struct fault *fault) {
	int r;

	if (!strcmp(name, "btrfs"))
		return btrfs_read(work->reader, partition, used, ret_bytes, fault);
	if (!strcmp(name, "ufs"))
		return ufs_read(work->reader, partition, used, ret_bytes, fault);
	r = partclone_read(work->reader, partition, name, work->order->folder, used, ret_bytes, fault);
	return r == 0 ? prove(work, partition, name, used, *ret_bytes, fault) : r;
}

// 1: all of it is kept.
static int add_filesystem(const struct work *work, const struct partition *partition, const struct content *content,
			  struct fault *fault) {
	cleanup_with(extents_free) struct extents used = {0};
	struct usedmap *map = work->map;
	uint64_t bytes;
	int r = read_map(work, partition, content->name, &used, &bytes, fault);

	if (r < 0 && fault->code == CODE_UNSUPPORTED)
		return fault_prefix(fault, r, "%s: partition at byte %llu, %s: ", work->reader->name,
				    (unsigned long long)partition->start, content->name);
	if (r < 0) {
		keep_whole(work, partition, fault->text);
		return 1;
	}
	add_extents(&map->kept, &used);
	mark(map, partition->start + bytes - 1);
	if (content->copy_at_end)
		extents_add(&map->kept, end_of(partition) - map->sector, end_of(partition));
	return add_rest(work, partition->start + bytes, end_of(partition), fault);
}

static int add_content(const struct work *work, const struct partition *partition, const struct content *content,
		       struct fault *fault) {
	struct usedmap *map = work->map;

	if (content->doubt[0]) {
		keep_whole(work, partition, content->doubt);
		return 0;
	}
	switch (content->kind) {
	case CONTENT_FILESYSTEM: return add_filesystem(work, partition, content, fault);
	case CONTENT_SWAP:
		extents_add(&map->kept, partition->start, partition->start + content->header);
		mark(map, end_of(partition) - 1);
		return add_rest(work, partition->start + content->bytes, end_of(partition), fault);
	case CONTENT_ALL: extents_add(&map->kept, partition->start, end_of(partition)); break;
	}
	return 0;
}

// A file of anything else than a disk has no table, no content that is known, and no boot sector either.
static int check_known(const struct work *work, const struct partition *partition, const struct content *content,
		       struct fault *fault) {
	uint8_t first[512];
	int r = 0;

	if (!content->is_unknown || work->order->sector || partition->bytes != work->reader->bytes)
		return 0;
	r = reader_read(work->reader, first, sizeof(first), 0, fault);
	if (r < 0 || mbr_is_signed(first))
		return r;
	return fault_set(fault, CODE_UNSUPPORTED,
			 "%s: it is no disk that is known: no partition table, no boot sector, no filesystem. If it is "
			 "the raw disk of a machine, state its sectors with sector=",
			 work->reader->name);
}

static void add_entry(struct usedmap *map, const struct partition *partition, const char *content) {
	struct index_partition *entry = &map->partitions[map->partition_count++];

	*entry = (struct index_partition){.start = partition->start, .bytes = partition->bytes};
	snprintf(entry->content, sizeof(entry->content), "%s", content);
}

// A partition of a disklabel. 1: it is not proven. There may be anything in another one than a UFS.
static int add_labelled(const struct work *work, const struct disklabel_partition *partition, struct fault *fault) {
	static const struct content ufs = {.kind = CONTENT_FILESYSTEM, .name = "ufs"};
	enum beside_label found = BESIDE_OTHER;
	int r = partition->is_ffs ? content_beside_label(work->reader, &partition->place, &found, fault) : 0;

	if (r == 0 && found == BESIDE_UFS)
		return add_filesystem(work, &partition->place, &ufs, fault);
	extents_add(&work->map->kept, partition->place.start, end_of(&partition->place));
	return r;
}

// What is in none of its partitions: boot code, the label, and partitions without a type.
static int add_unlabelled(const struct work *work, const struct partition *slice, const struct disklabel *label,
			  struct fault *fault) {
	uint64_t at = slice->start;
	int r = 0;

	for (size_t i = 0; r == 0 && i < label->count; i++) {
		r = unclaimed_keep(work->reader, at, label->partitions[i].place.start, &work->map->kept, fault);
		at = end_of(&label->partitions[i].place);
	}
	return r < 0 ? r : unclaimed_keep(work->reader, at, end_of(slice), &work->map->kept, fault);
}

// The slice of a BSD, or its whole disk. A label of which one partition is not proven may be that of another time: then
// all of the slice is kept. 1: it has no label, or there is something else in it.
static int add_slice(const struct work *work, const struct partition *slice, struct fault *fault) {
	uint8_t sector[DISKLABEL_BYTES];
	struct disklabel label;
	enum beside_label found = BESIDE_OTHER;
	bool is_proven = true;
	int r = 0;

	if (slice->bytes < DISKLABEL_AT + sizeof(sector))
		return 1;
	r = reader_read(work->reader, sector, sizeof(sector), slice->start + DISKLABEL_AT, fault);
	if (r < 0 || !disklabel_read(sector, slice, &label))
		return r < 0 ? r : 1;
	r = content_beside_label(work->reader, slice, &found, fault);
	if (r < 0 || found == BESIDE_OTHER)
		return r < 0 ? r : 1;
	for (size_t i = 0; r >= 0 && i < label.count; i++) {
		r = add_labelled(work, &label.partitions[i], fault);
		is_proven &= r == 0;
	}
	if (r >= 0)
		r = add_unlabelled(work, slice, &label, fault);
	if (r == 0 && !is_proven)
		keep_whole(work, slice, "a partition of its disklabel is not proven");
	mark(work->map, end_of(slice) - 1);
	add_entry(work->map, slice, "bsd");
	return r;
}

static int add_partition(const struct work *work, const struct partition *partition, enum partition_type type,
			 struct fault *fault) {
	struct content content;
	int r = type == PARTITION_SLICE ? add_slice(work, partition, fault) : 1;

	if (r <= 0)
		return r;
	r = content_read(work->reader, partition, type, &content, fault);
	if (r == 0)
		r = check_known(work, partition, &content, fault);
	if (r == 0)
		r = add_content(work, partition, &content, fault);
	if (r >= 0)
		add_entry(work->map, partition, r == 1 ? "data" : content.name);
	return r < 0 ? r : 0;
}

// What lies outside of the partitions and of the table. Areas that the table only announces are kept whatever the
// order: something is there.
static int add_outside(const struct work *work, const struct table *table, struct fault *fault) {
	cleanup_with(extents_free) struct extents known = {0}, gaps = {0};
	struct usedmap *map = work->map;
	int r = 0;

	add_extents(&known, &table->structures);
	add_extents(&known, &table->opaque);
	for (size_t i = 0; i < table->partition_count; i++)
		extents_add(&known, table->partitions[i].start, end_of(&table->partitions[i]));
	extents_settle(&known);
	unclaimed_of(&known, work->reader->bytes, &gaps);
	map->kept.failed |= known.failed || gaps.failed;
	for (size_t i = 0; r == 0 && i < gaps.count; i++)
		r = add_rest(work, gaps.items[i].start, gaps.items[i].end, fault);
	for (size_t i = 0; r == 0 && i < table->opaque.count; i++) {
		const struct extent *area = &table->opaque.items[i];
		r = unclaimed_keep(work->reader, area->start, area->end, &map->kept, fault);
		mark(map, area->end - 1);
	}
	return r;
}

static void settle(struct usedmap *map) {
	extents_settle(&map->kept);
	extents_settle(&map->marks);
	for (uint32_t i = 0; i < map->partition_count; i++) {
		struct index_partition *p = &map->partitions[i];
		p->used = extents_granules(&map->kept, p->start, p->start + p->bytes);
	}
}

// In a partition nothing is a table: what looks like one is its content.
static struct table one_partition(const struct reader *reader, const struct usedmap_order *order) {
	struct table table = {.sector = order->sector, .partition_count = 1};

	table.partitions[0] = (struct partition){0, reader->bytes};
	table_add_type(&table, order->type, 0, reader->bytes);
	return table;
}

int usedmap_read(const struct reader *reader, const struct usedmap_order *order, struct usedmap *ret,
		 struct fault *fault) {
	const struct work work = {reader, order, ret};
	cleanup_with(table_free) struct table table = {0};
	int r = 0;

	*ret = (struct usedmap){.is_partition = order->is_partition};
	if (order->is_partition)
		table = one_partition(reader, order);
	else
		r = sector_read_table(reader, order->sector, &table, fault);
	if (r == 0 && table.warning)
		text_addf(&ret->warnings, "%s: %s\n", reader->name, table.warning);
	ret->sector = table.sector;
	add_extents(&ret->kept, &table.structures);
	for (size_t i = 0; r == 0 && i < table.partition_count; i++)
		r = add_partition(&work, &table.partitions[i], table_type(&table, &table.partitions[i]), fault);
	if (r == 0)
		r = add_outside(&work, &table, fault);
	if (ret->dropped)
		text_addf(&ret->warnings,
			  "%s: gaps=drop: %llu bytes outside of partitions and behind filesystems are "
			  "left out, whatever they hold\n",
			  reader->name, (unsigned long long)ret->dropped);
	settle(ret);
	if (r == 0 && (ret->kept.failed || ret->marks.failed || ret->warnings.failed))
		r = fault_errno(fault, CODE_FAILED, ENOMEM, "%s", reader->name);
	return r;
}

void usedmap_free(struct usedmap *map) {
	extents_free(&map->kept);
	extents_free(&map->marks);
	text_free(&map->warnings);
}
