// SPDX-License-Identifier: Apache-2.0
// Offsets: as in pack/probe.c and pack/clean.c.
#include "pack/free_bytes.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "pack/ntfs.h"

#define PIECE ((size_t)1 << 20)
#define BOOT 512u
#define ENTRY 32u // bytes of a directory entry of exFAT

typedef int count_fn(const struct reader *reader, const struct partition *partition, uint64_t *ret_free,
		     struct fault *fault);

// 1: outside of the partition.
static int read_at(const struct reader *reader, const struct partition *partition, void *data, size_t size, uint64_t at,
		   struct fault *fault) {
	if (at > partition->bytes || size > partition->bytes - at)
		return 1;
	return reader_read(reader, data, size, partition->start + at, fault);
}

static int count_ext(const struct reader *reader, const struct partition *partition, uint64_t *ret_free,
		     struct fault *fault) {
	uint8_t super[1024];
	uint64_t blocks;
	int r = read_at(reader, partition, super, sizeof(super), 1024, fault);

	if (r != 0)
		return r;
	blocks = get_le32(super + 12);
	if (get_le32(super + 96) & 0x80) // 64bit
		blocks |= (uint64_t)get_le32(super + 0x158) << 32;
	*ret_free = blocks << (10 + get_le32(super + 24) % 32);
	return 0;
}

static int count_xfs(const struct reader *reader, const struct partition *partition, uint64_t *ret_free,
		     struct fault *fault) {
	uint8_t super[BOOT], group[BOOT];
	uint64_t block, groups, each, sector, blocks = 0;
	int r = read_at(reader, partition, super, sizeof(super), 0, fault);

	if (r != 0)
		return r;
	block = get_be32(super + 4);
	each = get_be32(super + 84) * block;
	groups = get_be32(super + 88);
	sector = (uint64_t)super[102] << 8 | super[103];
	for (uint64_t i = 0; r == 0 && i < groups; i++) {
		r = read_at(reader, partition, group, sizeof(group), i * each + sector, fault);
		if (r == 0 && (memcmp(group, "XAGF", 4) || get_be32(group + 8) != i))
			return 1;
		blocks += r == 0 ? (uint64_t)get_be32(group + 52) + get_be32(group + 48) : 0; // and its reserve
	}
	*ret_free = blocks * block;
	return r;
}

static int count_f2fs(const struct reader *reader, const struct partition *partition, uint64_t *ret_free,
		      struct fault *fault) {
	uint8_t super[BOOT], one[BOOT], two[BOOT];
	uint64_t at, segment, main, valid;
	unsigned block_bits;
	int r = read_at(reader, partition, super, sizeof(super), 1024, fault);

	if (r != 0)
		return r;
	block_bits = get_le32(super + 16) % 32;
	segment = UINT64_C(1) << (get_le32(super + 16) + get_le32(super + 20)) % 32;
	at = (uint64_t)get_le32(super + 76) << block_bits;
	r = read_at(reader, partition, one, sizeof(one), at, fault);
	if (r == 0)
		r = read_at(reader, partition, two, sizeof(two), at + segment, fault);
	if (r != 0)
		return r;
	valid = get_le64((get_le64(two) > get_le64(one) ? two : one) + 16);
	main = get_le32(super + 68) * segment;
	if (valid > main >> block_bits)
		return 1;
	*ret_free = main - (valid << block_bits);
	return 0;
}

// Bytes of a table that are read piece by piece.
struct table_part {
	const struct reader *reader;
	const struct partition *partition;
	uint64_t at, bytes;
};

typedef uint64_t count_piece(const uint8_t *data, size_t size, unsigned width);

static int count_table(const struct table_part *part, count_piece *count, unsigned width, uint64_t *ret,
		       struct fault *fault) {
	cleanup_free uint8_t *piece = aligned_alloc(READ_ALIGN, PIECE);
	int r = piece ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "%s", part->reader->name);

	*ret = 0;
	for (uint64_t at = 0; r == 0 && at < part->bytes; at += PIECE) {
		size_t n = part->bytes - at < PIECE ? (size_t)(part->bytes - at) : PIECE;
		r = read_at(part->reader, part->partition, piece, n, part->at + at, fault);
		if (r == 0)
			*ret += count(piece, n, width);
	}
	return r;
}

// Entries of a FAT with 16 or 32 bits that are 0. The upper four of 32 bits are reserved.
static uint64_t count_zeros(const uint8_t *data, size_t size, unsigned width) {
	uint64_t count = 0;

	for (size_t i = 0; i + width <= size; i += width)
		count += width == 2 ? get_le16(data + i) == 0 : (get_le32(data + i) & 0x0fffffff) == 0;
	return count;
}

static int count_fat(const struct reader *reader, const struct partition *partition, uint64_t *ret_free,
		     struct fault *fault) {
	struct table_part part = {.reader = reader, .partition = partition};
	uint8_t boot[BOOT];
	uint64_t sector, sectors, table, front, clusters;
	unsigned width;
	int r = read_at(reader, partition, boot, sizeof(boot), 0, fault);

	if (r != 0)
		return r;
	sector = get_le16(boot + 11);
	if (sector == 0 || boot[13] == 0)
		return 1;
	sectors = get_le16(boot + 19) ? get_le16(boot + 19) : get_le32(boot + 32);
	table = get_le16(boot + 22) ? get_le16(boot + 22) : get_le32(boot + 36);
	front = get_le16(boot + 14) + boot[16] * table + (get_le16(boot + 17) * 32 + sector - 1) / sector;
	if (front > sectors)
		return 1;
	clusters = (sectors - front) / boot[13];
	width = get_le16(boot + 22) ? 2 : 4;		    // as Linux decides, whatever the number of clusters
	part.at = get_le16(boot + 14) * sector + 2 * width; // the first two entries belong to no cluster
	part.bytes = clusters * width;
	r = count_table(&part, count_zeros, width, ret_free, fault);
	*ret_free *= boot[13] * sector;
	return r;
}

static uint64_t count_ones(const uint8_t *data, size_t size, unsigned width) {
	uint64_t count = 0;

	(void)width;
	for (size_t i = 0; i < size; i++)
		count += (unsigned)__builtin_popcount(data[i]);
	return count;
}

// The cluster of the bitmap is in the first cluster of the root folder. mkfs puts it in consecutive clusters.
static int count_exfat(const struct reader *reader, const struct partition *partition, uint64_t *ret_free,
		       struct fault *fault) {
	struct table_part part = {.reader = reader, .partition = partition};
	uint8_t boot[BOOT], entry[ENTRY] = {0};
	uint64_t sector, cluster, heap, clusters, used;
	int r = read_at(reader, partition, boot, sizeof(boot), 0, fault);

	if (r != 0)
		return r;
	sector = UINT64_C(1) << boot[108] % 13;
	cluster = sector << boot[109] % 26;
	heap = get_le32(boot + 88) * sector;
	clusters = get_le32(boot + 92);
	for (uint64_t i = 0; r == 0 && entry[0] != 0x81 && i < cluster; i += ENTRY)
		r = read_at(reader, partition, entry, ENTRY, heap + (get_le32(boot + 96) - 2) * cluster + i, fault);
	if (r != 0 || entry[0] != 0x81 || get_le64(entry + 24) != (clusters + 7) / 8)
		return r < 0 ? r : 1;
	part.at = heap + (get_le32(entry + 20) - 2) * cluster;
	part.bytes = (clusters + 7) / 8;
	r = count_table(&part, count_ones, 1, &used, fault);
	*ret_free = (clusters - used) * cluster;
	return r;
}

// The bitmap is the file of the seventh record of the master file table. Bits behind its last cluster are set.
static int count_ntfs(const struct reader *reader, const struct partition *partition, uint64_t *ret_free,
		      struct fault *fault) {
	struct table_part part = {.reader = reader, .partition = partition};
	struct ntfs_run run = {0};
	uint8_t boot[BOOT], record[NTFS_RECORD_MAX];
	uint64_t left, ones, clusters = 0;
	struct ntfs_file file;
	int r = read_at(reader, partition, boot, sizeof(boot), 0, fault);

	if (r != 0)
		return r;
	if (!ntfs_place(boot, 6, &file))
		return 1;
	r = read_at(reader, partition, record, file.record, file.at, fault);
	if (r != 0)
		return r;
	if (!ntfs_data(record, file.record, &run, &left))
		return 1;
	while (r == 0 && left > 0 && ntfs_next_run(&run)) {
		part.at = run.cluster * file.cluster;
		part.bytes = run.count < left / file.cluster + 1 ? run.count * file.cluster : left;
		part.bytes = part.bytes < left ? part.bytes : left;
		r = count_table(&part, count_ones, 1, &ones, fault);
		clusters += part.bytes * 8 - ones;
		left -= part.bytes;
	}
	*ret_free = clusters * file.cluster;
	return r == 0 && left > 0 ? 1 : r;
}

int free_bytes_read(const struct reader *reader, const struct partition *partition, const char *name,
		    uint64_t *ret_free, struct fault *fault) {
	static const struct {
		const char *name;
		count_fn *count;
	} all[] = {
		{"ext2", count_ext},  {"ext3", count_ext}, {"ext4", count_ext},	   {"xfs", count_xfs},
		{"f2fs", count_f2fs}, {"fat", count_fat},  {"exfat", count_exfat}, {"ntfs", count_ntfs},
	};

	for (size_t i = 0; i < ELEMENTS(all); i++)
		if (!strcmp(name, all[i].name))
			return all[i].count(reader, partition, ret_free, fault);
	return 1;
}
