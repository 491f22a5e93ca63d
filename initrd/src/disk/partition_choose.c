// SPDX-License-Identifier: Apache-2.0
#include "disk/partition_choose.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/child.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "disk/contents.h"
#include "disk/table.h"

#define LABEL "part-label:"
#define UUID "part-uuid:"
#define NUMBER_MOST 1024u // entries of a GPT

// What is requested, and the disk.
struct request {
	const char *disk, *text;
	const char *label, *uuid; // one of the three is set
	uint64_t number;
	int fd;
	struct table table;
	blkid_partlist list;
};

static void free_probe(blkid_probe *probe) { blkid_free_probe(*probe); }

static void free_table(struct request *request) { table_free(&request->table); }

static int parse(const char *text, struct request *ret, struct fault *fault) {
	if (!strncmp(text, LABEL, strlen(LABEL)) && text[strlen(LABEL)])
		ret->label = text + strlen(LABEL);
	else if (!strncmp(text, UUID, strlen(UUID)) && text[strlen(UUID)])
		ret->uuid = text + strlen(UUID);
	else if (number_parse(text, NUMBER_MOST, &ret->number) < 0 || ret->number == 0)
		return fault_set(
			fault, CODE_USAGE,
			"partition: \"%.100s\" is not the number of a partition, " LABEL "NAME or " UUID "UUID", text);
	ret->text = text;
	return 0;
}

int partition_selector_check(const char *text, struct fault *fault) {
	struct request request = {0};
	return parse(text, &request, fault);
}

static bool is_name(const char *wanted, const char *name) { return name && !strcmp(wanted, name); }

static bool matches(const struct request *request, blkid_partition p) {
	if (request->label)
		return is_name(request->label, blkid_partition_get_name(p));
	if (request->uuid)
		return is_name(request->uuid, blkid_partition_get_uuid(p));
	return (uint64_t)blkid_partition_get_partno(p) == request->number;
}

static int find_one(const struct request *request, blkid_partition *ret, struct fault *fault) {
	cleanup_with(text_free) struct text others = {0};
	unsigned count = 0;

	for (int i = 0; i < blkid_partlist_numof_partitions(request->list); i++) {
		blkid_partition p = blkid_partlist_get_partition(request->list, i);
		text_addf(&others, "%s%d", i ? ", " : "", blkid_partition_get_partno(p));
		if (matches(request, p)) {
			*ret = p;
			count++;
		}
	}
	if (count == 0)
		return fault_set(fault, CODE_DISK, "partition %s: %s has none such; its partitions are: %s",
				 request->text, request->disk, others.data ? others.data : "none");
	if (count > 1)
		return fault_set(fault, CODE_DISK, "partition %s: %u of %s match: name it by its number", request->text,
				 count, request->disk);
	if (blkid_partition_is_extended(*ret))
		return fault_set(fault, CODE_DISK,
				 "partition %s: of %s it is an extended one, which holds others: name one of those, "
				 "from 5 on",
				 request->text, request->disk);
	return 0;
}

static bool overlap(uint64_t start, uint64_t end, const struct partition *place) {
	return start < place->start + place->bytes && place->start < end;
}

static bool is_in(const struct extents *extents, const struct partition *place) {
	for (size_t i = 0; i < extents->count; i++)
		if (overlap(extents->items[i].start, extents->items[i].end, place))
			return true;
	return false;
}

// The table as this program reads it must have exactly that partition, and nothing else in its bytes.
static int check_place(const struct request *request, const struct partition *place, struct fault *fault) {
	const struct table *table = &request->table;
	unsigned same = 0, shared = 0;

	for (size_t i = 0; i < table->partition_count; i++) {
		const struct partition *other = &table->partitions[i];
		same += other->start == place->start && other->bytes == place->bytes;
		shared += overlap(other->start, other->start + other->bytes, place);
	}
	if (same == 0 || place->start == 0 || place->bytes == 0)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "partition %s: what %s has at byte %llu is no partition that an image can be of: "
				 "check its table",
				 request->text, request->disk, (unsigned long long)place->start);
	if (shared > 1 || is_in(&table->structures, place) || is_in(&table->opaque, place))
		return fault_set(fault, CODE_DISK,
				 "partition %s: of %s its bytes are those of another partition or of the table too: "
				 "repair the table",
				 request->text, request->disk);
	return 0;
}

// LVM, RAID or btrfs over several partitions.
static int check_sets(const struct request *request, struct chosen_partition *chosen, struct fault *fault) {
	char shared[SETS_MAX];

	if (!contents_sets(request->fd, chosen->place.start, chosen->place.bytes, chosen->sets))
		return fault_set(fault, CODE_DISK, "partition %s: of %s it cannot be read", request->text,
				 request->disk);
	for (size_t i = 0; chosen->sets[0] && i < request->table.partition_count; i++) {
		const struct partition *other = &request->table.partitions[i];
		char sets[SETS_MAX] = "";
		if (other->start == chosen->place.start)
			continue;
		if (!contents_sets(request->fd, other->start, other->bytes, sets))
			snprintf(sets, sizeof(sets), "*");
		if (sets_share(chosen->sets, sets, shared, sizeof(shared)))
			return fault_set(fault, CODE_DISK,
					 "partition %s: of %s it is a member of the set %s, and so is its partition at "
					 "byte %llu",
					 request->text, request->disk, shared, (unsigned long long)other->start);
	}
	return 0;
}

static int choose(struct request *request, struct chosen_partition *ret, struct fault *fault) {
	blkid_partition found = NULL;
	int r = find_one(request, &found, fault);

	if (r < 0)
		return r;
	*ret = (struct chosen_partition){.number = (unsigned)blkid_partition_get_partno(found)};
	ret->place.start = (uint64_t)blkid_partition_get_start(found) * SECTOR;
	ret->place.bytes = (uint64_t)blkid_partition_get_size(found) * SECTOR;
	ret->type = table_type(&request->table, &ret->place);
	r = check_place(request, &ret->place, fault);
	return r == 0 ? check_sets(request, ret, fault) : r;
}

// libblkid knows numbers and names; disk/table.h what else is on the disk.
static int read_both(struct request *request, blkid_probe probe, uint32_t sector, struct fault *fault) {
	struct reader reader;
	uint32_t ignored;
	int r = reader_open(request->fd, request->disk, &reader, &ignored, fault);

	if (r == 0)
		r = table_read(&reader, sector, &request->table, fault);
	if (r == 0 && request->table.kind == TABLE_NONE)
		return fault_set(fault, CODE_DISK, "partition %s: %s has no partition table", request->text,
				 request->disk);
	if (r == 0 &&
	    (!probe || blkid_probe_set_device(probe, request->fd, 0, 0) != 0 ||
	     blkid_probe_set_sectorsize(probe, sector) != 0 || !(request->list = blkid_probe_get_partitions(probe))))
		return fault_set(fault, CODE_UNSUPPORTED, "partition %s: libblkid reads no partition table of %s",
				 request->text, request->disk);
	return r;
}

int partition_choose(int fd, const char *name, uint32_t sector, const char *text, struct chosen_partition *ret,
		     struct fault *fault) {
	cleanup_with(free_table) struct request request = {.disk = name};
	cleanup_with(free_probe) blkid_probe probe = blkid_new_probe();
	cleanup_close int plain = -1;
	char path[CHILD_PATH];
	int r = parse(text, &request, fault);

	if (r < 0)
		return r;
	// without O_DIRECT, which the descriptor may have
	request.fd = plain = open(child_path(fd, path), O_RDONLY | O_CLOEXEC);
	if (plain < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", name);
	r = read_both(&request, probe, sector, fault);
	return r == 0 ? choose(&request, ret, fault) : r;
}
