// SPDX-License-Identifier: Apache-2.0
#include "pack/btrfs.h"

#include <errno.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "pack/asleep.h"
#include "pack/btrfs_tree.h"

#define RESERVED ((uint64_t)1 << 20) // at the start of the device, for boot loaders; it has the first superblock too

enum { EXTENT_ITEM = 168, METADATA_ITEM = 169, GROUP_ITEM = 192, ROOT_ITEM = 132 };
enum { EXTENT_TREE = 2, GROUP_TREE = 11 };		// objects of the root tree
enum { R_GENERATION = 160, R_AT = 176, R_LEVEL = 238 }; // root item: offsets of the fields

// Item of an extent: offsets of the fields. Inline references follow; the first may be that of simple quotas.
enum { E_REFERENCES = 0, E_FIRST = 24, OWNER = 172, OWNER_SIZE = 9, DATA = 178, DATA_OFFSET = 17, DATA_SIZE = 29 };
#define SWAP_MIN ((uint64_t)1 << 20) // the first extent of a file for a machine's memory

// Work on one filesystem.
struct mapping {
	struct btrfs btrfs;
	struct btrfs_root extents, groups;
	bool has_extents, has_groups;
	struct extents copies[BTRFS_COPIES]; // one list for each copy: ranges join when they are added in order
	uint64_t used;
};

static void free_mapping(struct mapping *m) {
	btrfs_close(&m->btrfs);
	for (unsigned i = 0; i < BTRFS_COPIES; i++)
		extents_free(&m->copies[i]);
}

static int take_root(void *context, const struct btrfs_key *key, const uint8_t *item, size_t size,
		     struct fault *fault) {
	struct mapping *m = context;
	struct btrfs_root root;

	if (key->type != ROOT_ITEM || (key->object != EXTENT_TREE && key->object != GROUP_TREE))
		return 0;
	if (size <= R_LEVEL)
		return fault_set(fault, CODE_FAILED, "btrfs: the root of tree %llu is damaged",
				 (unsigned long long)key->object);
	root = (struct btrfs_root){
		.at = get_le64(item + R_AT), .generation = get_le64(item + R_GENERATION), .level = item[R_LEVEL]};
	*(key->object == EXTENT_TREE ? &m->extents : &m->groups) = root;
	*(key->object == EXTENT_TREE ? &m->has_extents : &m->has_groups) = true;
	return 0;
}

static int add_extent(struct mapping *m, uint64_t logical, uint64_t bytes, struct fault *fault) {
	struct btrfs_chunk *chunk = btrfs_chunk_of(&m->btrfs, logical, bytes);

	if (!chunk)
		return fault_set(fault, CODE_FAILED, "btrfs: an extent is outside of all chunks (address %llu)",
				 (unsigned long long)logical);
	chunk->used += bytes;
	m->used += bytes;
	for (unsigned i = 0; i < chunk->copies; i++) {
		uint64_t start = m->btrfs.partition->start + chunk->at[i] + (logical - chunk->logical);
		extents_add(&m->copies[i], start, start + bytes);
	}
	return 0;
}

static int add_group(struct mapping *m, const struct btrfs_key *key, const uint8_t *item, size_t size,
		     struct fault *fault) {
	struct btrfs_chunk *chunk = btrfs_chunk_of(&m->btrfs, key->object, key->offset);

	if (size < 8 || !chunk || chunk->logical != key->object || chunk->bytes != key->offset)
		return fault_set(fault, CODE_FAILED, "btrfs: a block group is not a chunk (address %llu)",
				 (unsigned long long)key->object);
	chunk->declared = get_le64(item);
	chunk->has_group = true;
	return 0;
}

// A btrfs that was mounted when Linux put its memory into one of its files looks like one that was not. The file is
// not compressed, in no snapshot, and its first extent is large; what its first page refers to is enough.
static int check_sleep(const struct mapping *m, const struct btrfs_key *key, const uint8_t *item, size_t size,
		       struct fault *fault) {
	const struct btrfs_chunk *chunk = btrfs_chunk_of(&m->btrfs, key->object, key->offset);
	size_t at = E_FIRST + (size > E_FIRST && item[E_FIRST] == OWNER ? OWNER_SIZE : 0);
	bool asleep = false;
	int r;

	if (!chunk || key->offset < SWAP_MIN || size < at + DATA_SIZE || get_le64(item + E_REFERENCES) != 1 ||
	    item[at] != DATA || get_le64(item + at + DATA_OFFSET) != 0)
		return 0;
	r = asleep_at(m->btrfs.reader, m->btrfs.partition->start + chunk->at[0] + (key->object - chunk->logical),
		      key->offset, &asleep, fault);
	return asleep ? fault_set(fault, CODE_UNSUPPORTED,
				  "a system hibernates in one of its files: start that system and shut it down")
		      : r;
}

static int take_extent(void *context, const struct btrfs_key *key, const uint8_t *item, size_t size,
		       struct fault *fault) {
	struct mapping *m = context;
	int r;

	switch (key->type) {
	case EXTENT_ITEM:
		r = add_extent(m, key->object, key->offset, fault);
		return r < 0 ? r : check_sleep(m, key, item, size, fault);
	case METADATA_ITEM: return add_extent(m, key->object, m->btrfs.node, fault);
	case GROUP_ITEM: return add_group(m, key, item, size, fault);
	default: return 0;
	}
}

static int walk_extents(struct mapping *m, struct fault *fault) {
	int r = btrfs_walk(&m->btrfs, &m->btrfs.root, take_root, m, fault);

	if (r == 0 && (!m->has_extents || m->has_groups != m->btrfs.has_group_tree))
		r = fault_set(fault, CODE_FAILED, "btrfs: it has no extent tree or no tree of block groups");
	if (r == 0)
		r = btrfs_walk(&m->btrfs, &m->extents, take_extent, m, fault);
	if (r == 0 && m->has_groups)
		r = btrfs_walk(&m->btrfs, &m->groups, take_extent, m, fault);
	return r;
}

static int prove(const struct mapping *m, struct fault *fault) {
	for (size_t i = 0; i < m->btrfs.chunk_count; i++) {
		const struct btrfs_chunk *chunk = &m->btrfs.chunks[i];
		if (!chunk->has_group || chunk->used != chunk->declared)
			return fault_set(fault, CODE_FAILED,
					 "btrfs: the block group at address %llu declares %llu used bytes, its extents "
					 "have %llu",
					 (unsigned long long)chunk->logical, (unsigned long long)chunk->declared,
					 (unsigned long long)chunk->used);
	}
	if (m->used != m->btrfs.used)
		return fault_set(fault, CODE_FAILED,
				 "btrfs: the superblock declares %llu used bytes, all extents have %llu",
				 (unsigned long long)m->btrfs.used, (unsigned long long)m->used);
	return 0;
}

static void add_used(const struct mapping *m, struct extents *used) {
	static const uint64_t supers[] = {(uint64_t)64 << 20, (uint64_t)256 << 30};
	uint64_t start = m->btrfs.partition->start, end = start + m->btrfs.bytes;

	extents_add(used, start, RESERVED < m->btrfs.bytes ? start + RESERVED : end);
	for (unsigned i = 0; i < ELEMENTS(supers); i++)
		if (supers[i] + BTRFS_SUPER_BYTES <= m->btrfs.bytes)
			extents_add(used, start + supers[i], start + supers[i] + BTRFS_SUPER_BYTES);
	for (unsigned i = 0; i < BTRFS_COPIES; i++) {
		for (size_t j = 0; j < m->copies[i].count; j++)
			extents_add(used, m->copies[i].items[j].start, m->copies[i].items[j].end);
		used->failed |= m->copies[i].failed;
	}
}

int btrfs_read(const struct reader *reader, const struct partition *partition, struct extents *used,
	       uint64_t *ret_bytes, struct fault *fault) {
	cleanup_with(free_mapping) struct mapping m = {0};
	int r = btrfs_open(reader, partition, &m.btrfs, fault);

	if (r == 0)
		r = walk_extents(&m, fault);
	if (r == 0)
		r = prove(&m, fault);
	if (r < 0)
		return r;
	add_used(&m, used);
	*ret_bytes = m.btrfs.bytes;
	return 0;
}
