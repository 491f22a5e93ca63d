// SPDX-License-Identifier: Apache-2.0
// The offsets are from the documentation of each format: kernel headers ext4.h, xfs_format.h, btrfs_tree.h, f2fs_fs.h,
// md_p.h, swap.h; FreeBSD's fs.h; ECMA-107 and Microsoft's specifications of FAT, exFAT and NTFS; the on-disk formats
// of LVM2 and LUKS.
#include "pack/probe.h"

#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "pack/asleep.h"
#include "pack/ufs.h"

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

static uint32_t le32(const struct head *head, size_t at) {
	return at + 4 <= head->size ? get_le32(head->data + at) : 0;
}
static uint64_t le64(const struct head *head, size_t at) {
	return at + 8 <= head->size ? get_le64(head->data + at) : 0;
}
static uint8_t byte(const struct head *head, size_t at) { return at < head->size ? head->data[at] : 0; }

// ext2, ext3, ext4: the superblock is at byte 1024.
enum {
	EXT_MAGIC = 1024 + 56,
	EXT_STATE = 1024 + 58,
	EXT_COMPAT = 1024 + 92,
	EXT_INCOMPAT = 1024 + 96,
	EXT_RO = 1024 + 100,
	EXT_JOURNAL_INODE = 1024 + 224
};
#define EXT_HAS_JOURNAL 0x4u
#define EXT_RECOVER 0x4u
#define EXT_IS_JOURNAL 0x8u
// Features that only ext4 has: extents, 64bit, flex_bg and later ones; large files and checksums.
#define EXT4_INCOMPAT 0xffffffe0u
#define EXT4_RO 0xfffffff8u

static bool is_ext(const struct head *h, struct probe *ret) {
	uint32_t incompat = le32(h, EXT_INCOMPAT);

	if (le16(h, EXT_MAGIC) != 0xef53 || (incompat & EXT_IS_JOURNAL))
		return false;
	if ((incompat & EXT4_INCOMPAT) || (le32(h, EXT_RO) & EXT4_RO))
		ret->name = "ext4";
	else if (le32(h, EXT_COMPAT) & EXT_HAS_JOURNAL)
		ret->name = "ext3";
	if ((le32(h, EXT_COMPAT) & EXT_HAS_JOURNAL) && le32(h, EXT_JOURNAL_INODE) == 0)
		ret->objection = "its journal is on another device";
	else if (incompat & EXT_RECOVER)
		ret->objection = "its journal must be replayed: mount and unmount it, or run e2fsck";
	else if ((le16(h, EXT_STATE) & 3) != 1)
		ret->objection = "it was not unmounted or has errors: run e2fsck";
	return true;
}

enum { XFS_REALTIME = 16, XFS_INCOMPAT = 216 }; // blocks of the realtime section; big-endian
#define XFS_ZONED 0x02u				// in the third byte: in a section of the same device

static bool is_xfs(const struct head *h, struct probe *ret) {
	if (!has(h, 0, "XFSB", 4))
		return false;
	if (byte(h, XFS_INCOMPAT + 2) & XFS_ZONED)
		ret->doubt = "its files are in zones";
	else if (le64(h, XFS_REALTIME) != 0)
		ret->objection = "its realtime section is on another device";
	if (byte(h, 126))
		ret->objection = "it is incomplete: mkfs.xfs or xfs_copy was interrupted";
	return true;
}

static bool is_btrfs(const struct head *h, struct probe *ret) {
	const size_t at = 65536;

	if (!has(h, at + 64, "_BHRfS_M", 8))
		return false;
	if (le64(h, at + 0x88) != 1)
		ret->objection = "it is one of several devices of a btrfs, but an image holds only one disk";
	else if (le64(h, at + 0x60) != 0)
		ret->objection = "its log must be replayed: mount and unmount it";
	return true;
}

static bool is_f2fs(const struct head *h, struct probe *ret) {
	(void)ret;
	return le32(h, 1024) == 0xf2f52010;
}

static bool is_ufs(const struct head *h, struct probe *ret) {
	unsigned found = 0;
	bool is_big_endian;

	for (size_t i = 0; i < ELEMENTS(ufs_places); i++)
		found += ufs_places[i] + UFS_SUPER_BYTES <= h->size &&
			 ufs_recognise(h->data + ufs_places[i], ufs_places[i], &is_big_endian) != UFS_NONE;
	if (found > 1)
		ret->doubt = "it has superblocks of two UFS";
	return found > 0;
}

static bool is_ntfs(const struct head *h, struct probe *ret) {
	(void)ret;
	return has(h, 3, "NTFS    ", 8) && has(h, 510, "\x55\xaa", 2);
}

static bool is_exfat(const struct head *h, struct probe *ret) {
	if (!has(h, 3, "EXFAT   ", 8) || !has(h, 510, "\x55\xaa", 2))
		return false;
	if (byte(h, 110) != 1)
		ret->doubt = "it has more than one table";
	if (le16(h, 106) & 2)
		ret->objection = "it was not unmounted: run fsck.exfat";
	return true;
}

// FAT with fewer than 4085 clusters has 12 bits for each.
static bool is_fat12(const struct head *h) {
	uint64_t sectors = le16(h, 19) ? le16(h, 19) : le32(h, 32), table = le16(h, 22) ? le16(h, 22) : le32(h, 36);
	uint64_t root = (le16(h, 17) * 32 + le16(h, 11) - 1) / le16(h, 11),
		 front = le16(h, 14) + byte(h, 16) * table + root;

	return sectors < front || (sectors - front) / byte(h, 13) < 4085;
}

static bool is_fat(const struct head *h, struct probe *ret) {
	uint32_t sector = le16(h, 11);
	uint8_t tables = byte(h, 16), jump = byte(h, 0);

	if (!has(h, 510, "\x55\xaa", 2) || (jump != 0xeb && jump != 0xe9) || byte(h, 21) < 0xf0)
		return false;
	if (!is_power_of_two(sector) || sector < 512 || sector > 4096 || !is_power_of_two(byte(h, 13)) ||
	    le16(h, 14) == 0 || tables < 1 || tables > 2)
		return false;
	if (le16(h, 19) == 0 && le32(h, 32) == 0)
		return false;
	// With 32 bits it may say that one table alone is kept up to date. partclone reads the first.
	if (le16(h, 22) == 0 && (byte(h, 40) & 0x80) && (byte(h, 40) & 0x0f))
		ret->doubt = "its first table is not the one in use";
	if (is_fat12(h))
		// partclone 0.3.23 reports used clusters of it as free; it is never larger than 32 MiB
		ret->kind = CONTENT_ALL;
	return true;
}

enum { SWAP_VERSION = 1024, SWAP_LAST_PAGE = 1028, SWAP_BAD_PAGES = 1032 };
#define SWAP_BAD_MAX 16384u // more than fit the header's page

// A header whose fields are not those of a swap may have been left behind by one.
static bool is_swap(const struct head *h, struct probe *ret) {
	for (size_t page = 4096; page <= 65536; page *= 2)
		if (has(h, page - 10, "SWAPSPACE2", 10)) {
			ret->header = (uint32_t)page;
			ret->bytes = ((uint64_t)le32(h, SWAP_LAST_PAGE) + 1) * page;
			if (le32(h, SWAP_VERSION) != 1 || le32(h, SWAP_LAST_PAGE) == 0 ||
			    le32(h, SWAP_BAD_PAGES) > SWAP_BAD_MAX)
				ret->doubt = "its swap header has impossible fields";
			return true;
		}
	return false;
}

static bool is_suspended(const struct head *h, struct probe *ret) {
	if (!asleep_in(h->data, h->size))
		return false;
	ret->objection = "a system hibernates in it: start that system and shut it down";
	return true;
}

static bool is_lvm(const struct head *h, struct probe *ret) {
	(void)ret;
	for (size_t at = 0; at < 2048; at += 512)
		if (has(h, at, "LABELONE", 8) && has(h, at + 24, "LVM2 001", 8))
			return true;
	return false;
}

// bcachefs too: with this magic or with its newer one.
static bool is_bcache(const struct head *h, struct probe *ret) {
	(void)ret;
	return has(h, 4096 + 24, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81", 16) ||
	       has(h, 4096 + 24, "\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef", 16);
}

static bool is_luks(const struct head *h, struct probe *ret) {
	(void)ret;
	return has(h, 0, "LUKS\xba\xbe", 6);
}

// Everything about each content: how it is recognised by its first bytes, and how its state is checked where they do
// not show it.
static const struct format {
	const char *name;
	enum content_kind kind;
	bool (*recognise)(const struct head *, struct probe *); // sets what the table does not
	clean_check *check;
	bool copy_at_end;
} formats[] = {
	{"luks", CONTENT_ALL, is_luks, NULL, false},
	{"bcache", CONTENT_ALL, is_bcache, NULL, false},
	{"lvm", CONTENT_ALL, is_lvm, asleep_lvm, false},
	{"ext2", CONTENT_FILESYSTEM, is_ext, NULL, false}, // ext3 and ext4 too
	{"xfs", CONTENT_FILESYSTEM, is_xfs, clean_xfs, false},
	{"btrfs", CONTENT_FILESYSTEM, is_btrfs, NULL, false},
	{"f2fs", CONTENT_FILESYSTEM, is_f2fs, clean_f2fs, false},
	{"ufs", CONTENT_FILESYSTEM, is_ufs, NULL, false},
	{"ntfs", CONTENT_FILESYSTEM, is_ntfs, clean_ntfs, true}, // the copy of its boot sector
	{"exfat", CONTENT_FILESYSTEM, is_exfat, NULL, false},
	{"fat", CONTENT_FILESYSTEM, is_fat, clean_fat, false},
	{"swap", CONTENT_SWAP, is_swap, NULL, false},
	{"swsuspend", CONTENT_ALL, is_suspended, NULL, false},
};

// A member of a RAID has the superblock at its start (metadata 1.1 and 1.2) or, behind its content, at its end
// (0.90 and 1.0). `tail` holds at least the last whole 64 KiB of the partition, where it is then.
static bool is_raid(const struct head *h, const uint8_t *tail, size_t size) {
	if (le32(h, 0) == MD_MAGIC || le32(h, 4096) == MD_MAGIC)
		return true;
	for (size_t at = 0; at + 4 <= size; at += 512)
		if (get_le32(tail + at) == MD_MAGIC)
			return true;
	return false;
}

// An MBR in the first sector, as far as it differs from boot code: one with an entry.
static bool is_mbr(const struct head *h) {
	bool is_used = false;

	if (!has(h, 510, "\x55\xaa", 2))
		return false;
	for (size_t at = 446; at < 510; at += 16) {
		if (byte(h, at) & 0x7f)
			return false;
		is_used |= le32(h, at + 12) != 0;
	}
	return is_used;
}

// The boot block of Acorn: a description of the disk with a checksum.
static bool is_acorn(const struct head *h) {
	const size_t at = 0xc00, record = at + 0x1c0;
	unsigned sum = 0;

	if (byte(h, record) < 8 || byte(h, record) > 10 || le32(h, record + 16) == 0)
		return false;
	for (size_t i = at + 511; i-- > at;)
		sum = (sum & 0xff) + (sum >> 8) + byte(h, i);
	return (sum & 0xff) == byte(h, at + 511);
}

// Tables that Linux reads and libblkid does not: Amiga, IBM's DASD (in EBCDIC), OSF/1, Motorola, Karma, Acorn.
static bool is_other_table(const struct head *h) {
	for (size_t at = 0; at < 16 * 512; at += 512)
		if (has(h, at, "RDSK", 4))
			return true;
	for (size_t block = 512; block <= 8192; block *= 2)
		for (size_t at = block; at <= block + 4; at += 4)
			if (has(h, at, "\xe5\xd6\xd3\xf1", 4) || has(h, at, "\xd3\xd5\xe7\xf1", 4) ||
			    has(h, at, "\xc3\xd4\xe2\xf1", 4))
				return true;
	return has(h, 64, "\x57\x45\x56\x82", 4) || has(h, 248, "MOTOROLA", 8) || has(h, 510, "\x56\xab", 2) ||
	       is_acorn(h);
}

void probe(const uint8_t *head, size_t head_size, const uint8_t *tail, size_t tail_size, struct probe *ret) {
	const struct head h = {head, head_size};
	unsigned found = 0;

	*ret = (struct probe){.name = "data"};
	for (size_t i = 0; i < ELEMENTS(formats); i++) {
		const struct format *f = &formats[i];
		struct probe one = {.kind = f->kind, .name = f->name, .check = f->check, .copy_at_end = f->copy_at_end};
		if (f->recognise(&h, &one)) {
			*ret = one;
			found++;
		}
	}
	if (found > 1)
		*ret = (struct probe){.name = "data", .doubt = "it has signatures of more than one content"};
	if (ret->kind != CONTENT_ALL && is_raid(&h, tail, tail_size))
		*ret = (struct probe){.name = "data", .doubt = "it is part of a RAID"};
	if (ret->kind != CONTENT_ALL && is_mbr(&h))
		*ret = (struct probe){.name = "data", .doubt = "there is a partition table in it (dos)"};
	if (ret->kind != CONTENT_ALL && (has(&h, 512, "EFI PART", 8) || has(&h, 4096, "EFI PART", 8)))
		*ret = (struct probe){.name = "data", .doubt = "there is a partition table in it (gpt)"};
	if (ret->kind != CONTENT_ALL && is_other_table(&h))
		*ret = (struct probe){.name = "data", .doubt = "there is a partition table of another system in it"};
	ret->is_known = found > 0;
}
