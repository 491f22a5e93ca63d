// SPDX-License-Identifier: Apache-2.0
// Offsets are those of each format's own documentation: kernel headers ext4.h, xfs_format.h, btrfs_tree.h, f2fs_fs.h,
// md_p.h, swap.h; ECMA-107 and Microsoft's texts for FAT, exFAT and NTFS; LVM2 and LUKS on-disk formats.
#include "pack/probe.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"

#define MD_MAGIC 0xa92b4efcu

struct head {
	const uint8_t *data;
	size_t size;
};

static bool has(const struct head *head, size_t at, const char *bytes, size_t size) {
	return at + size <= head->size && !memcmp(head->data + at, bytes, size);
}

static uint32_t le16(const struct head *head, size_t at) {
	return at + 2 <= head->size ? (uint32_t)(head->data[at] | head->data[at + 1] << 8) : 0;
}

static uint32_t le32(const struct head *head, size_t at) { return at + 4 <= head->size ? get_le32(head->data + at)
		     : 0; }
static uint64_t le64(const struct head *head, size_t at) { return at + 8 <= head->size ? get_le64(head->data + at)
		     : 0; }
static uint8_t byte(const struct head *head, size_t at) { return at < head->size ? head->data[at] : 0; }

static bool power_of_two(uint32_t n) { return n && !(n & (n - 1)); }

// ext2, ext3, ext4: the superblock is at byte 1024.
enum { EXT_MAGIC = 1024 + 56, EXT_STATE = 1024 + 58, EXT_COMPAT = 1024 + 92, EXT_INCOMPAT = 1024 + 96,
		EXT_RO = 1024 + 100 };
#define EXT_HAS_JOURNAL 0x4u
#define EXT_RECOVER 0x4u
#define EXT_IS_JOURNAL 0x8u
// What only ext4 has: extents, 64bit, flex_bg and later ones; large files and checksums.
#define EXT4_INCOMPAT 0xffffffe0u
#define EXT4_RO 0xfffffff8u

static bool is_ext(const struct head *h, struct probe *ret) {
	uint32_t incompat = le32(h, EXT_INCOMPAT);

	if (le16(h, EXT_MAGIC) != 0xef53 || (incompat & EXT_IS_JOURNAL))
		return false;
	*ret = (struct probe){.kind = CONTENT_FILESYSTEM, .name = "ext2", .tool = "ext2"};
	if ((incompat & EXT4_INCOMPAT) || (le32(h, EXT_RO) & EXT4_RO))
		ret->name = ret->tool = "ext4";
	else if (le32(h, EXT_COMPAT) & EXT_HAS_JOURNAL)
		ret->name = ret->tool = "ext3";
	if (incompat & EXT_RECOVER)
		ret->objection = "its journal has to be replayed: mount and unmount it, or run e2fsck";
	else if ((le16(h, EXT_STATE) & 3) != 1)
		ret->objection = "it was not unmounted or has errors: run e2fsck";
	return true;
}

static bool is_xfs(const struct head *h, struct probe *ret) {
	if (!has(h, 0, "XFSB", 4))
		return false;
	*ret = (struct probe){.kind = CONTENT_FILESYSTEM, .name = "xfs", .tool = "xfs"};
	if (byte(h, 126))
		ret->objection = "its making did not end (mkfs.xfs, or xfs_copy)";
	return true;
}

static bool is_btrfs(const struct head *h, struct probe *ret) {
	const size_t at = 65536;

	if (!has(h, at + 64, "_BHRfS_M", 8))
		return false;
	*ret = (struct probe){.kind = CONTENT_FILESYSTEM, .name = "btrfs", .tool = "btrfs"};
	if (le64(h, at + 0x88) != 1)
		ret->objection = "it is one of several devices of a btrfs: an image holds one disk";
	else if (le64(h, at + 0x60) != 0)
		ret->objection = "its log has to be replayed: mount and unmount it";
	return true;
}

static bool is_f2fs(const struct head *h, struct probe *ret) {
	if (le32(h, 1024) != 0xf2f52010)
		return false;
	*ret = (struct probe){.kind = CONTENT_FILESYSTEM, .name = "f2fs", .tool = "f2fs"};
	return true;
}

static bool is_ntfs(const struct head *h, struct probe *ret) {
	if (!has(h, 3, "NTFS    ", 8) || !has(h, 510, "\x55\xaa", 2))
		return false;
	*ret = (struct probe){.kind = CONTENT_FILESYSTEM, .name = "ntfs", .tool = "ntfs"};
	return true;
}

static bool is_exfat(const struct head *h, struct probe *ret) {
	if (!has(h, 3, "EXFAT   ", 8) || !has(h, 510, "\x55\xaa", 2))
		return false;
	*ret = (struct probe){.kind = CONTENT_FILESYSTEM, .name = "exfat", .tool = "exfat"};
	if (le16(h, 106) & 2)
		ret->objection = "it was not unmounted: run fsck.exfat";
	return true;
}

// FAT has 12 bits for each cluster when there are fewer than 4085.
static bool is_fat12(const struct head *h) {
	uint64_t sectors = le16(h, 19) ? le16(h, 19) : le32(h, 32), table = le16(h, 22) ? le16(h, 22) : le32(h, 36);
	uint64_t root = (le16(h, 17) * 32 + le16(h, 11) - 1) / le16(h, 11), front =
		le16(h, 14) + byte(h, 16) * table + root;

	return sectors < front || (sectors - front) / byte(h, 13) < 4085;
}

static bool is_fat(const struct head *h, struct probe *ret) {
	uint32_t sector = le16(h, 11);
	uint8_t tables = byte(h, 16), jump = byte(h, 0);

	if (!has(h, 510, "\x55\xaa", 2) || (jump != 0xeb && jump != 0xe9) || byte(h, 21) < 0xf0)
		return false;
	if (!power_of_two(sector) || sector < 512 || sector > 4096 || !power_of_two(byte(h, 13)) || le16(h, 14) == 0 ||
		tables < 1 || tables > 2)
		return false;
	if (le16(h, 19) == 0 && le32(h, 32) == 0)
		return false;
	*ret = (struct probe){.kind = CONTENT_FILESYSTEM, .name = "fat", .tool = "fat"};
	if (is_fat12(h))
		// partclone 0.3.23 takes used clusters of it for free; it is never larger than 32 MiB
		ret->kind = CONTENT_ALL;
	return true;
}

static bool is_swap(const struct head *h, struct probe *ret) {
	for (size_t page = 4096; page <= 65536; page *= 2)
		if (has(h, page - 10, "SWAPSPACE2", 10) || has(h, page - 10, "SWAP-SPACE", 10)) {
			*ret = (struct probe){.kind = CONTENT_SWAP, .name = "swap", .header = (uint32_t)page};
			return true;
		}
	return false;
}

static bool is_lvm(const struct head *h, struct probe *ret) {
	for (size_t at = 0; at < 2048; at += 512)
		if (has(h, at, "LABELONE", 8) && has(h, at + 24, "LVM2 001", 8)) {
			*ret = (struct probe){.name = "lvm"};
			return true;
		}
	return false;
}

static bool is_luks(const struct head *h, struct probe *ret) {
	if (!has(h, 0, "LUKS\xba\xbe", 6))
		return false;
	*ret = (struct probe){.name = "luks"};
	return true;
}

// A member of a RAID whose superblock is at the end (metadata 0.90 and 1.0) looks like what is inside it. The places
// are those for a partition of which `tail` holds the last whole 64 KiB and more.
static bool is_raid(const uint8_t *tail, size_t size) {
	for (size_t at = 0; at + 4 <= size; at += 512)
		if (get_le32(tail + at) == MD_MAGIC)
			return true;
	return false;
}

void probe(const uint8_t *head, size_t head_size, const uint8_t *tail, size_t tail_size, struct probe *ret) {
	static bool (*const kinds[])(const struct head *, struct probe *) =
		{is_luks, is_lvm, is_ext, is_xfs, is_btrfs, is_f2fs, is_ntfs, is_exfat,
									     is_fat, is_swap};
	const struct head h = {head, head_size};
	struct probe one;
	unsigned found = 0;

	*ret = (struct probe){.name = "data"};
	for (size_t i = 0; i < ELEMENTS(kinds); i++)
		if (kinds[i](&h, &one)) {
			*ret = one;
			found++;
		}
	if (found > 1)
		*ret = (struct probe){.name = "data",
			.warning = "it has signatures of more than one content: kept whole"};
	if (ret->kind != CONTENT_ALL && is_raid(tail, tail_size))
		*ret = (struct probe){.name = "data", .warning = "it is part of a RAID: kept whole"};
}
