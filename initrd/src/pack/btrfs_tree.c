// SPDX-License-Identifier: Apache-2.0
#include "pack/btrfs_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"

// clang-format off
// Superblock: offsets of the fields.
enum { S_AT = 48, S_MAGIC = 64, S_GENERATION = 72, S_ROOT = 80, S_CHUNK_ROOT = 88, S_USED = 120, S_DEVICES = 136,
       S_SECTOR = 144, S_NODE = 148, S_SYSTEM_BYTES = 160, S_CHUNK_GENERATION = 164, S_RO_FEATURES = 180,
       S_FEATURES = 188, S_CHECKSUM = 196, S_ROOT_LEVEL = 198, S_CHUNK_LEVEL = 199, S_DEVICE = 201,
       S_DEVICE_BYTES = 209, S_SYSTEM = 811 };

// Header of a node: offsets of the fields; size of the header, of a key, of what follows the key.
enum { N_AT = 48, N_GENERATION = 80, N_COUNT = 96, N_LEVEL = 100, N_HEADER = 101, KEY = 17, POINTER = KEY + 16,
       ITEM = KEY + 8 };
// clang-format on

// Chunk: offsets of the fields.
enum { C_BYTES = 0, C_TYPE = 24, C_STRIPES = 44, C_STRIPE = 48, STRIPE = 32, STRIPE_AT = 8 };

#define SYSTEM_MAX 2048u
#define KNOWN_FEATURES 0x107ffu // all up to metadata_uuid, and simple_quota; not zoned, not a second form of trees
#define GROUP_TREE 0x8u
#define STRIPED 0x7c8u // RAID 0, 10, 5, 6 and with 3 or 4 copies; neither single, DUP nor RAID 1
#define CHUNK_ITEM 228u
#define CHUNKS_MAX (1u << 22)
#define CRC32C 0u

static uint32_t crc32c(const uint8_t *data, size_t size) {
	static uint32_t table[256];
	uint32_t crc = UINT32_MAX;

	for (uint32_t i = 0; !table[255] && i < 256; i++) { // the last entry is not 0
		uint32_t c = i;
		for (int bit = 0; bit < 8; bit++)
			c = c >> 1 ^ (c & 1 ? 0x82f63b78u : 0);
		table[i] = c;
	}
	for (size_t i = 0; i < size; i++)
		crc = crc >> 8 ^ table[(crc ^ data[i]) & 0xff];
	return ~crc;
}

static int damaged(const char *what, uint64_t at, struct fault *fault) {
	return fault_set(fault, CODE_FAILED, "btrfs: %s (address %llu)", what, (unsigned long long)at);
}

static int read_at(const struct btrfs *b, void *data, size_t size, uint64_t at, struct fault *fault) {
	if (at > b->partition->bytes || size > b->partition->bytes - at)
		return damaged("it refers to bytes behind its partition", at, fault);
	return reader_read(b->reader, data, size, b->partition->start + at, fault);
}

static struct btrfs_key get_key(const uint8_t *p) {
	return (struct btrfs_key){.object = get_le64(p), .type = p[8], .offset = get_le64(p + 9)};
}

static bool is_below(const struct btrfs_key *a, const struct btrfs_key *b) {
	if (a->object != b->object)
		return a->object < b->object;
	return a->type != b->type ? a->type < b->type : a->offset < b->offset;
}

struct btrfs_chunk *btrfs_chunk_of(const struct btrfs *b, uint64_t logical, uint64_t bytes) {
	size_t low = 0, high = b->chunk_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (b->chunks[middle].logical <= logical)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	low--;
	return logical - b->chunks[low].logical <= b->chunks[low].bytes &&
			       bytes <= b->chunks[low].bytes - (logical - b->chunks[low].logical)
		       ? &b->chunks[low]
		       : NULL;
}

// Adds a chunk behind all others, which keeps them in order.
static int add_chunk(struct btrfs *b, uint64_t logical, const uint8_t *item, size_t size, struct fault *fault) {
	const struct btrfs_chunk *last = b->chunk_count ? &b->chunks[b->chunk_count - 1] : NULL;
	struct btrfs_chunk chunk = {.logical = logical}, *chunks;

	if (size < C_STRIPE + STRIPE)
		return damaged("a chunk is too short", logical, fault);
	chunk.bytes = get_le64(item + C_BYTES);
	chunk.copies = get_le16(item + C_STRIPES);
	if ((get_le64(item + C_TYPE) & STRIPED) || chunk.copies < 1 || chunk.copies > BTRFS_COPIES)
		return damaged("a chunk is striped over devices", logical, fault);
	if (size != C_STRIPE + (size_t)chunk.copies * STRIPE || chunk.bytes == 0 ||
	    chunk.bytes > UINT64_MAX - logical || (last && last->logical + last->bytes > logical) ||
	    b->chunk_count == CHUNKS_MAX)
		return damaged("a chunk is damaged", logical, fault);
	for (unsigned i = 0; i < chunk.copies; i++) {
		const uint8_t *stripe = item + C_STRIPE + (size_t)i * STRIPE;
		chunk.at[i] = get_le64(stripe + STRIPE_AT);
		if (get_le64(stripe) != b->device || chunk.at[i] > b->bytes || chunk.bytes > b->bytes - chunk.at[i])
			return damaged("a chunk is on another device or behind its end", logical, fault);
	}
	chunks = reallocarray(b->chunks, b->chunk_count + 1, sizeof(*chunks));
	if (!chunks)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "btrfs: chunks");
	b->chunks = chunks;
	b->chunks[b->chunk_count++] = chunk;
	return 0;
}

// The chunks that hold the chunk tree.
static int read_system(struct btrfs *b, const uint8_t *super, struct fault *fault) {
	const uint8_t *at = super + S_SYSTEM;
	size_t left = get_le32(super + S_SYSTEM_BYTES);
	int r = left <= SYSTEM_MAX ? 0 : damaged("its system chunks are damaged", left, fault);

	while (r == 0 && left > 0) {
		size_t size;
		if (left < KEY + C_STRIPE || left - KEY < C_STRIPE + (size_t)get_le16(at + KEY + C_STRIPES) * STRIPE)
			return damaged("its system chunks are damaged", left, fault);
		size = C_STRIPE + (size_t)get_le16(at + KEY + C_STRIPES) * STRIPE;
		r = add_chunk(b, get_key(at).offset, at + KEY, size, fault);
		at += KEY + size;
		left -= KEY + size;
	}
	return r;
}

static int take_chunk(void *context, const struct btrfs_key *key, const uint8_t *item, size_t size,
		      struct fault *fault) {
	return key->type == CHUNK_ITEM ? add_chunk(context, key->offset, item, size, fault) : 0;
}

// Replaces the chunks of the superblock by those of the chunk tree, which has them too.
static int read_chunks(struct btrfs *b, const uint8_t *super, struct fault *fault) {
	const struct btrfs_root root = {.at = get_le64(super + S_CHUNK_ROOT),
					.generation = get_le64(super + S_CHUNK_GENERATION),
					.level = super[S_CHUNK_LEVEL]};
	struct btrfs all = *b;
	int r;

	all.chunks = NULL;
	all.chunk_count = 0;
	r = btrfs_walk(b, &root, take_chunk, &all, fault);
	free(b->chunks);
	b->chunks = all.chunks;
	b->chunk_count = all.chunk_count;
	return r;
}

static int check_super(struct btrfs *b, const uint8_t *super, struct fault *fault) {
	uint32_t sector = get_le32(super + S_SECTOR), node = get_le32(super + S_NODE);

	if (memcmp(super + S_MAGIC, "_BHRfS_M", 8) || get_le64(super + S_AT) != BTRFS_SUPER ||
	    get_le64(super + S_DEVICES) != 1)
		return damaged("its superblock is damaged", BTRFS_SUPER, fault);
	b->has_checksums = get_le16(super + S_CHECKSUM) == CRC32C;
	if (b->has_checksums && crc32c(super + 32, BTRFS_SUPER_BYTES - 32) != get_le32(super))
		return damaged("the checksum of its superblock is wrong", BTRFS_SUPER, fault);
	if ((get_le64(super + S_FEATURES) & ~(uint64_t)KNOWN_FEATURES) || (sector & (sector - 1)) ||
	    (node & (node - 1)) || sector < 4096 || node < sector || node > 65536)
		return damaged("it has features that are not known here", get_le64(super + S_FEATURES), fault);
	b->device = get_le64(super + S_DEVICE);
	b->bytes = get_le64(super + S_DEVICE_BYTES);
	if (b->bytes > b->partition->bytes)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "the filesystem is larger than its partition: it was cut off");
	b->node = node;
	b->used = get_le64(super + S_USED);
	b->has_group_tree = get_le64(super + S_RO_FEATURES) & GROUP_TREE;
	b->root = (struct btrfs_root){.at = get_le64(super + S_ROOT),
				      .generation = get_le64(super + S_GENERATION),
				      .level = super[S_ROOT_LEVEL]};
	return 0;
}

int btrfs_open(const struct reader *reader, const struct partition *partition, struct btrfs *ret, struct fault *fault) {
	uint8_t super[BTRFS_SUPER_BYTES];
	int r;

	*ret = (struct btrfs){.reader = reader, .partition = partition};
	r = read_at(ret, super, sizeof(super), BTRFS_SUPER, fault);
	if (r == 0)
		r = check_super(ret, super, fault);
	for (unsigned i = 0; r == 0 && i < BTRFS_LEVELS; i++)
		if (!(ret->nodes[i] = aligned_alloc(READ_ALIGN, ret->node)))
			r = fault_errno(fault, CODE_FAILED, ENOMEM, "btrfs");
	if (r == 0)
		r = read_system(ret, super, fault);
	return r == 0 ? read_chunks(ret, super, fault) : r;
}

void btrfs_close(struct btrfs *b) {
	for (unsigned i = 0; i < BTRFS_LEVELS; i++)
		free(b->nodes[i]);
	free(b->chunks);
	*b = (struct btrfs){0};
}

static int read_node(struct btrfs *b, const struct btrfs_root *root, struct fault *fault) {
	const struct btrfs_chunk *chunk = btrfs_chunk_of(b, root->at, b->node);
	uint8_t *node;
	int r;

	if (root->level >= BTRFS_LEVELS || !chunk)
		return damaged("a node is outside of all chunks", root->at, fault);
	node = b->nodes[root->level];
	r = read_at(b, node, b->node, chunk->at[0] + (root->at - chunk->logical), fault);
	if (r < 0)
		return r;
	if (get_le64(node + N_AT) != root->at || get_le64(node + N_GENERATION) != root->generation ||
	    node[N_LEVEL] != root->level ||
	    get_le32(node + N_COUNT) > (b->node - N_HEADER) / (root->level ? POINTER : ITEM) ||
	    (b->has_checksums && crc32c(node + 32, b->node - 32) != get_le32(node)))
		return damaged("a node is damaged", root->at, fault);
	return 0;
}

// A walk over one tree. Keys must rise, which also ends a walk over trees that bite their tails.
struct walk {
	struct btrfs *btrfs;
	btrfs_take *take;
	void *context;
	struct btrfs_key last;
	bool is_started;
};

static int walk_leaf(struct walk *w, const uint8_t *leaf, uint64_t at, struct fault *fault) {
	uint32_t count = get_le32(leaf + N_COUNT), room = w->btrfs->node - N_HEADER;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < count; i++) {
		const uint8_t *item = leaf + N_HEADER + (size_t)i * ITEM;
		uint32_t from = get_le32(item + KEY), size = get_le32(item + KEY + 4);
		struct btrfs_key key = get_key(item);
		if (from > room || size > room - from || (w->is_started && !is_below(&w->last, &key)))
			return damaged("a leaf is damaged", at, fault);
		w->last = key;
		w->is_started = true;
		r = w->take(w->context, &key, leaf + N_HEADER + from, size, fault);
	}
	return r;
}

static int walk_node(struct walk *w, const struct btrfs_root *root, struct fault *fault) {
	const uint8_t *node;
	int r = read_node(w->btrfs, root, fault);

	if (r < 0)
		return r;
	node = w->btrfs->nodes[root->level];
	if (root->level == 0)
		return walk_leaf(w, node, root->at, fault);
	if (get_le32(node + N_COUNT) == 0)
		return damaged("a node is empty", root->at, fault);
	for (uint32_t i = 0; r == 0 && i < get_le32(node + N_COUNT); i++) {
		const uint8_t *pointer = node + N_HEADER + (size_t)i * POINTER;
		const struct btrfs_root child = {.at = get_le64(pointer + KEY),
						 .generation = get_le64(pointer + KEY + 8),
						 .level = (uint8_t)(root->level - 1)};
		struct btrfs_key key = get_key(pointer);
		if (w->is_started && !is_below(&w->last, &key))
			return damaged("a node is damaged", root->at, fault);
		r = walk_node(w, &child, fault);
		if (r == 0 && (!w->is_started || is_below(&w->last, &key)))
			return damaged("a node is empty", child.at, fault);
	}
	return r;
}

int btrfs_walk(struct btrfs *b, const struct btrfs_root *root, btrfs_take *take, void *context, struct fault *fault) {
	struct walk w = {.btrfs = b, .take = take, .context = context};
	return walk_node(&w, root, fault);
}
