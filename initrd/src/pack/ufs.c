// SPDX-License-Identifier: Apache-2.0
#include "pack/ufs.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"

// clang-format off
// Superblock: offsets of the fields. Those with OLD_ are the 32 bits of UFS1 where UFS2 has 64.
enum { S_SUPER = 8, S_GROUP = 12, S_INODES = 16, S_DATA = 20, S_STAGGER = 24, S_OLD_SIZE = 36, S_GROUPS = 44,
       S_BLOCK = 48, S_FRAGMENT = 52, S_PER_BLOCK = 56, S_OLD_SUMMARY = 152, S_SUMMARY_BYTES = 156,
       S_GROUP_BYTES = 160, S_GROUP_INODES = 184, S_GROUP_FRAGMENTS = 188, S_OLD_TOTAL = 192, S_MODIFIED = 208,
       S_CLEAN = 209, S_OLD_FLAGS = 211, S_PLACE = 1000, S_TOTAL = 1008, S_SIZE = 1080, S_SUMMARY = 1096,
       S_PENDING_BLOCKS = 1104, S_PENDING_INODES = 1112, S_SNAPSHOTS = 1116, S_FLAGS = 1312, S_TABLES = 1356,
       S_MAGIC = 1372 };

// Cylinder group: offsets of the fields; size of all that precede the maps. What a group counts: offsets in it.
enum { G_MAGIC = 4, G_NUMBER = 12, G_FRAGMENTS = 20, G_COUNTS = 24, G_MAP = 96, GROUP_HEAD = 168,
       C_BLOCKS = 4, C_FRAGMENTS = 12, COUNTS = 16 };
// clang-format on

#define UFS1_MAGIC 0x00011954u
#define UFS2_MAGIC 0x19540119u
#define GROUP_MAGIC 0x00090255u
#define SNAPSHOTS 20u
#define BLOCK_MIN 4096u
#define BLOCK_MAX 65536u
#define FRAGMENT_MIN 512u
#define PER_BLOCK_MAX 8u
#define INODE1 128u
#define INODE2 256u

// Flags: not clean when it was mounted, fsck needed, a journal below it (GEOM). Known beside them: soft updates and
// their journal, two kinds of access lists, labels, flags moved, checksums, trim.
#define UNCLEAN 0x5u
#define JOURNALLED 0x40u
#define KNOWN 0x7bau

struct ufs {
	const struct reader *reader;
	const struct partition *partition;
	bool is_big_endian, is_two;			 // UFS2
	uint32_t block, fragment;			 // bytes
	uint32_t per_block;				 // fragments of a block
	uint32_t each;					 // fragments of a group
	uint32_t groups, inodes;			 // number of all; of inodes in each
	uint32_t super_at, group_at, inodes_at, data_at; // fragments from the start of a group
	uint32_t group_bytes, summary_bytes;
	uint64_t size, summary; // fragments; first of the list of all groups
	uint64_t free_blocks, free_fragments;
};

// What is free: whole blocks, and fragments of other blocks.
struct counts {
	uint64_t blocks, fragments;
};

// A cylinder group. Its map has a bit for each fragment, 1: free.
struct group {
	uint32_t number, count; // of its fragments
	const uint8_t *map;
};

static uint32_t get32(const struct ufs *u, const uint8_t *p) { return u->is_big_endian ? get_be32(p) : get_le32(p); }

static uint64_t get64(const struct ufs *u, const uint8_t *p) { return u->is_big_endian ? get_be64(p) : get_le64(p); }

static int damaged(const char *what, uint64_t number, struct fault *fault) {
	return fault_set(fault, CODE_FAILED, "ufs: %s (cylinder group %llu)", what, (unsigned long long)number);
}

static int read_at(const struct ufs *u, void *data, size_t size, uint64_t at, struct fault *fault) {
	if (at > u->partition->bytes || size > u->partition->bytes - at)
		return fault_set(fault, CODE_FAILED, "ufs: it refers to bytes behind its partition");
	return reader_read(u->reader, data, size, u->partition->start + at, fault);
}

const uint32_t ufs_places[2] = {65536, 8192};

enum ufs_kind ufs_recognise(const uint8_t *super, uint32_t at, bool *ret_big_endian) {
	uint32_t magic = get_le32(super + S_MAGIC);
	uint64_t place;

	*ret_big_endian = magic != UFS1_MAGIC && magic != UFS2_MAGIC;
	magic = *ret_big_endian ? get_be32(super + S_MAGIC) : magic;
	place = *ret_big_endian ? get_be64(super + S_PLACE) : get_le64(super + S_PLACE);
	if (magic == UFS2_MAGIC)
		return place == at ? UFS2 : UFS_NONE;
	return magic == UFS1_MAGIC && at == ufs_places[1] ? UFS1 : UFS_NONE;
}

static int read_super(struct ufs *u, uint8_t super[UFS_SUPER_BYTES], struct fault *fault) {
	for (size_t i = 0; i < ELEMENTS(ufs_places); i++) {
		enum ufs_kind kind;
		int r;
		if (ufs_places[i] + UFS_SUPER_BYTES > u->partition->bytes)
			continue;
		r = read_at(u, super, UFS_SUPER_BYTES, ufs_places[i], fault);
		if (r < 0)
			return r;
		kind = ufs_recognise(super, ufs_places[i], &u->is_big_endian);
		u->is_two = kind == UFS2;
		if (kind != UFS_NONE)
			return 0;
	}
	return fault_set(fault, CODE_FAILED, "ufs: it has no superblock");
}

// Nobody but its own fsck knows what is free in a filesystem that was not unmounted. Soft updates write the maps last.
static const char *find_doubt(const struct ufs *u, const uint8_t *super) {
	uint32_t flags = get32(u, super + S_FLAGS) | super[S_OLD_FLAGS];

	if (super[S_CLEAN] != 1 || super[S_MODIFIED] != 0 || (flags & UNCLEAN))
		return "it was not unmounted cleanly: run fsck_ffs, or mount and unmount it";
	if (get64(u, super + S_PENDING_BLOCKS) != 0 || get32(u, super + S_PENDING_INODES) != 0)
		return "its soft updates are not finished: run fsck_ffs";
	if (!is_zero(super + S_SNAPSHOTS, SNAPSHOTS * sizeof(uint32_t)))
		return "it has snapshots";
	if (flags & JOURNALLED)
		return "it is journalled by gjournal";
	if (flags & ~KNOWN)
		return "it has features that are not known here";
	if (!u->is_two && (get32(u, super + S_STAGGER) != 0 || get32(u, super + S_TABLES) == UINT32_MAX))
		return "it is of a form before 4.4BSD";
	return NULL;
}

static void take_fields(struct ufs *u, const uint8_t *super) {
	u->block = get32(u, super + S_BLOCK);
	u->fragment = get32(u, super + S_FRAGMENT);
	u->per_block = get32(u, super + S_PER_BLOCK);
	u->each = get32(u, super + S_GROUP_FRAGMENTS);
	u->groups = get32(u, super + S_GROUPS);
	u->inodes = get32(u, super + S_GROUP_INODES);
	u->super_at = get32(u, super + S_SUPER);
	u->group_at = get32(u, super + S_GROUP);
	u->inodes_at = get32(u, super + S_INODES);
	u->data_at = get32(u, super + S_DATA);
	u->group_bytes = get32(u, super + S_GROUP_BYTES);
	u->summary_bytes = get32(u, super + S_SUMMARY_BYTES);
	if (u->is_two) {
		u->size = get64(u, super + S_SIZE);
		u->summary = get64(u, super + S_SUMMARY);
		u->free_blocks = get64(u, super + S_TOTAL + 8);
		u->free_fragments = get64(u, super + S_TOTAL + 24);
	} else {
		u->size = get32(u, super + S_OLD_SIZE);
		u->summary = get32(u, super + S_OLD_SUMMARY);
		u->free_blocks = get32(u, super + S_OLD_TOTAL + C_BLOCKS);
		u->free_fragments = get32(u, super + S_OLD_TOTAL + C_FRAGMENTS);
	}
}

static bool has_possible_blocks(const struct ufs *u) {
	return is_power_of_two(u->block) && u->block >= BLOCK_MIN && u->block <= BLOCK_MAX &&
	       is_power_of_two(u->fragment) && u->fragment >= FRAGMENT_MIN && u->fragment <= u->block &&
	       u->block / u->fragment == u->per_block && u->per_block <= PER_BLOCK_MAX;
}

static bool has_possible_groups(const struct ufs *u) {
	uint64_t fragment = u->fragment, table = (uint64_t)u->inodes * (u->is_two ? INODE2 : INODE1);

	return u->each > 0 && u->each % u->per_block == 0 && u->size > 0 && u->groups == (u->size - 1) / u->each + 1 &&
	       u->super_at < u->group_at && u->group_at < u->inodes_at && u->inodes_at < u->data_at &&
	       u->data_at <= u->each && u->group_bytes >= GROUP_HEAD && u->group_bytes <= u->block &&
	       (u->inodes_at - u->group_at) * fragment >= u->group_bytes &&
	       (u->data_at - u->inodes_at) * fragment >= table;
}

static bool has_possible_summary(const struct ufs *u) {
	uint64_t fragments = ((uint64_t)u->summary_bytes + u->fragment - 1) / u->fragment;
	return u->summary_bytes / COUNTS >= u->groups && u->summary < u->size && fragments <= u->size - u->summary;
}

static int open_ufs(struct ufs *u, struct fault *fault) {
	uint8_t super[UFS_SUPER_BYTES];
	const char *doubt;
	int r = read_super(u, super, fault);

	if (r < 0)
		return r;
	doubt = find_doubt(u, super);
	if (doubt)
		return fault_set(fault, CODE_FAILED, "ufs: %s", doubt);
	take_fields(u, super);
	if (!has_possible_blocks(u) || u->size > UINT64_MAX / u->fragment || !has_possible_groups(u) ||
	    !has_possible_summary(u))
		return fault_set(fault, CODE_FAILED, "ufs: its superblock has impossible fields");
	if (u->size > u->partition->bytes / u->fragment)
		return fault_set(fault, CODE_FAILED, "ufs: it is larger than its partition: it was cut off");
	return 0;
}

static int read_group(const struct ufs *u, uint32_t number, uint8_t *data, struct group *ret, struct fault *fault) {
	uint64_t first = (uint64_t)number * u->each, left = u->size - first;
	uint32_t count = left < u->each ? (uint32_t)left : u->each, map;
	int r = read_at(u, data, u->group_bytes, (first + u->group_at) * u->fragment, fault);

	if (r < 0)
		return r;
	map = get32(u, data + G_MAP);
	if (get32(u, data + G_MAGIC) != GROUP_MAGIC || get32(u, data + G_NUMBER) != number ||
	    get32(u, data + G_FRAGMENTS) != count || count < u->data_at || map < GROUP_HEAD || map > u->group_bytes ||
	    (count + 7) / 8 > u->group_bytes - map)
		return damaged("its head is damaged", number, fault);
	*ret = (struct group){.number = number, .count = count, .map = data + map};
	return 0;
}

static bool is_free(const struct group *g, uint32_t i) { return g->map[i / 8] >> i % 8 & 1; }

// In every group the superblock's copy, the group itself and its inodes; before those of the first one, boot code and
// the superblock; the list of all groups.
static bool is_metadata(const struct ufs *u, const struct group *g, uint32_t i) {
	uint64_t at = (uint64_t)g->number * u->each + i;

	return (i < u->data_at && (i >= u->super_at || g->number == 0)) ||
	       (at >= u->summary && at - u->summary < ((uint64_t)u->summary_bytes + u->fragment - 1) / u->fragment);
}

// The fragments of one block. Returns false if metadata are free in the map.
static bool count_block(const struct ufs *u, const struct group *g, uint32_t first, struct counts *counts) {
	uint32_t end = first + u->per_block < g->count ? first + u->per_block : g->count, found = 0;

	for (uint32_t i = first; i < end; i++) {
		if (is_free(g, i) && is_metadata(u, g, i))
			return false;
		found += is_free(g, i);
	}
	if (found == u->per_block)
		counts->blocks++;
	else
		counts->fragments += found;
	return true;
}

static void add_used(const struct ufs *u, const struct group *g, struct extents *used) {
	uint64_t start = u->partition->start + (uint64_t)g->number * u->each * u->fragment;

	for (uint32_t from = 0, to; from < g->count; from = to) {
		for (to = from + 1; to < g->count && is_free(g, to) == is_free(g, from); to++)
			;
		if (!is_free(g, from))
			extents_add(used, start + (uint64_t)from * u->fragment, start + (uint64_t)to * u->fragment);
	}
}

static bool has_counts(const struct ufs *u, const uint8_t *declared, const struct counts *counts) {
	return get32(u, declared + C_BLOCKS) == counts->blocks && get32(u, declared + C_FRAGMENTS) == counts->fragments;
}

static int add_group(const struct ufs *u, uint32_t number, uint8_t *data, struct counts *total, struct extents *used,
		     struct fault *fault) {
	struct counts counts = {0};
	struct group group = {0};
	uint8_t summary[COUNTS];
	int r = read_group(u, number, data, &group, fault);

	for (uint32_t i = 0; r == 0 && i < group.count; i += u->per_block)
		if (!count_block(u, &group, i, &counts))
			r = damaged("its map has metadata as free", number, fault);
	if (r == 0)
		r = read_at(u, summary, COUNTS, u->summary * u->fragment + (uint64_t)number * COUNTS, fault);
	if (r < 0)
		return r;
	if (!has_counts(u, data + G_COUNTS, &counts))
		return damaged("its map has other free blocks than it counts", number, fault);
	if (!has_counts(u, summary, &counts))
		return damaged("its map has other free blocks than the list of groups counts", number, fault);
	total->blocks += counts.blocks;
	total->fragments += counts.fragments;
	add_used(u, &group, used);
	return 0;
}

int ufs_read(const struct reader *reader, const struct partition *partition, struct extents *used, uint64_t *ret_bytes,
	     struct fault *fault) {
	cleanup_free uint8_t *data = malloc(BLOCK_MAX);
	struct ufs u = {.reader = reader, .partition = partition};
	struct counts total = {0};
	int r = data ? open_ufs(&u, fault) : fault_errno(fault, CODE_FAILED, ENOMEM, "ufs");

	for (uint32_t i = 0; r == 0 && i < u.groups; i++)
		r = add_group(&u, i, data, &total, used, fault);
	if (r < 0)
		return r;
	if (total.blocks != u.free_blocks || total.fragments != u.free_fragments)
		return fault_set(fault, CODE_FAILED, "ufs: its maps have other free blocks than its superblock counts");
	*ret_bytes = u.size * u.fragment;
	return 0;
}
