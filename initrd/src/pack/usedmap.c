// SPDX-License-Identifier: Apache-2.0
#include "pack/usedmap.h"

#include <errno.h>

#include "base/cleanup.h"
#include "disk/table.h"
#include "pack/domain.h"
#include "pack/probe.h"

static void warn(struct usedmap *map, const char *name, uint64_t start, const char *text) {
	text_addf(&map->warnings, "%s: partition at byte %llu: %s\n", name, (unsigned long long)start, text);
}

static void mark(struct usedmap *map, uint64_t byte) {
	uint64_t granule = byte / GRANULE * GRANULE;
	extents_add(&map->marks, granule, granule + GRANULE);
}

static int probe_partition(const struct reader *reader, const struct partition *partition, struct probe *ret,
			   struct fault *fault) {
	size_t head_size = partition->bytes < PROBE_HEAD ? (size_t)partition->bytes : PROBE_HEAD;
	size_t tail_size = partition->bytes < PROBE_TAIL ? (size_t)partition->bytes : PROBE_TAIL;
	cleanup_free uint8_t *head = aligned_alloc(READ_ALIGN, PROBE_HEAD), *tail =
		aligned_alloc(READ_ALIGN, PROBE_TAIL);
	int r = head && tail ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "%s", reader->name);

	if (r == 0)
		r = reader_read(reader, head, head_size, partition->start, fault);
	if (r == 0)
		r = reader_read(reader, tail, tail_size, partition->start + partition->bytes - tail_size, fault);
	if (r < 0)
		return r;
	probe(head, head_size, tail, tail_size, ret);
	return ret->check && !ret->objection ? ret->check(reader, partition, &ret->objection, fault) : 0;
}

static void add_all(struct usedmap *map, const struct partition *partition) {
	extents_add(&map->kept, partition->start, partition->start + partition->bytes);
}

static void add_last_sector(struct usedmap *map, const struct partition *partition) {
	uint64_t end = partition->start + partition->bytes;
	extents_add(&map->kept, end - map->sector, end);
}

static int add_filesystem(const struct reader *reader, const struct partition *partition, struct probe *content,
			  const char *folder,
			  struct usedmap *map, struct fault *fault) {
	size_t before = map->kept.count;
	uint64_t bytes;
	int r;

	if (content->objection)
		return fault_set(fault, CODE_UNSUPPORTED, "%s: partition at byte %llu, %s: %s", reader->name,
			(unsigned long long)partition->start,
				 content->name, content->objection);
	r = domain_read(reader, partition, content, folder, &map->kept, &bytes, fault);
	if (r < 0 && fault->code == CODE_UNSUPPORTED)
		return fault_prefix(fault, r, "%s: partition at byte %llu, %s: ", reader->name,
			(unsigned long long)partition->start, content->name);
	if (r < 0) {
		map->kept.count = before;
		warn(map, reader->name, partition->start, "all of it is kept, because its map could not be read:");
		text_addf(&map->warnings, "  %s\n", fault->text);
		content->name = "data";
		add_all(map, partition);
		return 0;
	}
	mark(map, partition->start + bytes - 1);
	if (content->copy_at_end)
		add_last_sector(map, partition);
	return 0;
}

static int add_content(const struct reader *reader, const struct partition *partition, struct probe *content,
		       const char *folder,
		       struct usedmap *map, struct fault *fault) {
	switch (content->kind) {
	case CONTENT_FILESYSTEM:
		return add_filesystem(reader, partition, content, folder, map, fault);
	case CONTENT_SWAP:
		extents_add(&map->kept, partition->start, partition->start + content->header);
		mark(map, partition->start + partition->bytes - 1);
		return 0;
	case CONTENT_ALL:
		add_all(map, partition);
		break;
	}
	return 0;
}

static int add_partition(const struct reader *reader, const struct partition *partition, const char *folder,
			 struct usedmap *map, struct fault *fault) {
	struct index_partition *entry = &map->partitions[map->partition_count];
	struct probe content = {0};
	int r = probe_partition(reader, partition, &content, fault);

	if (r == 0 && content.warning)
		warn(map, reader->name, partition->start, content.warning);
	if (r == 0)
		r = add_content(reader, partition, &content, folder, map, fault);
	if (r < 0)
		return r;
	*entry = (struct index_partition){.start = partition->start, .bytes = partition->bytes};
	snprintf(entry->content, sizeof(entry->content), "%s", content.name);
	map->partition_count++;
	return 0;
}

static void settle(struct usedmap *map) {
	extents_settle(&map->kept);
	extents_settle(&map->marks);
	for (uint32_t i = 0; i < map->partition_count; i++) {
		struct index_partition *p = &map->partitions[i];
		p->used = extents_granules(&map->kept, p->start, p->start + p->bytes);
	}
}

int usedmap_read(const struct reader *reader, uint32_t sector, const char *folder, struct usedmap *ret,
		 struct fault *fault) {
	cleanup_with(table_free) struct table table = {0};
	int r;

	*ret = (struct usedmap){0};
	r = table_read(reader, sector, &table, fault);
	if (r == 0 && table.warning)
		text_addf(&ret->warnings, "%s: %s\n", reader->name, table.warning);
	ret->sector = table.sector;
	for (size_t i = 0; r == 0 && i < table.structures.count; i++)
		extents_add(&ret->kept, table.structures.items[i].start, table.structures.items[i].end);
	for (size_t i = 0; r == 0 && i < table.partition_count; i++)
		r = add_partition(reader, &table.partitions[i], folder, ret, fault);
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
