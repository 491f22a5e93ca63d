// SPDX-License-Identifier: Apache-2.0
#include "pack/clean.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "pack/ntfs.h"
#include "pack/ntfs_sleep.h"

#define PIECE ((size_t)1 << 20)
#define XFS_LOG_MAX ((uint64_t)2 << 30) // the format's own limit
#define BASIC 512u			// bytes of a block of an xfs log
#define XFS_LOG_MAGIC 0xfeedbabeu
#define XFS_LOG_HEADER 32768u // of a record that one header block describes
#define XFS_UNMOUNT 0x20

// A part of the disk; a read outside of it is an error.
struct area {
	const struct reader *reader;
	uint64_t start, bytes;
};

static int area_read(const struct area *area, void *data, size_t size, uint64_t at, struct fault *fault) {
	if (at > area->bytes || size > area->bytes - at)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "%s: the filesystem at byte %llu is larger than its partition: it was cut off",
				 area->reader->name, (unsigned long long)area->start);
	return reader_read(area->reader, data, size, area->start + at, fault);
}

// The newest record of an xfs log.
struct record {
	uint64_t lsn, at; // at: byte of its header in the log
	uint32_t blocks;  // of headers
	uint32_t operations;
};

static void find_newest(const uint8_t *data, size_t size, uint64_t at, struct record *newest) {
	for (size_t i = 0; i + BASIC <= size; i += BASIC) {
		const uint8_t *p = data + i;
		uint32_t bytes = get_be32(p + 320);
		if (get_be32(p) != XFS_LOG_MAGIC || get_be64(p + 16) < newest->lsn)
			continue;
		*newest = (struct record){.lsn = get_be64(p + 16), .at = at + i, .blocks = 1};
		newest->operations = get_be32(p + 40);
		if ((get_be32(p + 8) & 2) && bytes > XFS_LOG_HEADER && bytes <= 8 * XFS_LOG_HEADER)
			newest->blocks = (bytes + XFS_LOG_HEADER - 1) / XFS_LOG_HEADER;
	}
}

static int newest_record(const struct area *area, uint64_t log, uint64_t bytes, struct record *ret,
			 struct fault *fault) {
	cleanup_free uint8_t *piece = aligned_alloc(READ_ALIGN, PIECE);
	int r = piece ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "xfs log");

	for (uint64_t at = 0; r == 0 && at < bytes; at += PIECE) {
		size_t n = bytes - at < PIECE ? (size_t)(bytes - at) : PIECE;
		r = area_read(area, piece, n, log + at, fault);
		if (r == 0)
			find_newest(piece, n, at, ret);
	}
	return r;
}

// The rule of the kernel: it is clean if the newest record of the log is that of an unmount.
int clean_xfs(const struct reader *reader, const struct partition *partition, const char **ret_objection,
	      const char **ret_doubt, struct fault *fault) {
	const struct area area = {reader, partition->start, partition->bytes};
	uint8_t super[BASIC], operation[BASIC];
	struct record newest = {0};
	uint64_t block, log, bytes, start, mask;
	int r = area_read(&area, super, sizeof(super), 0, fault);

	if (r < 0)
		return r;
	start = get_be64(super + 48);
	block = get_be32(super + 4);
	bytes = get_be32(super + 96) * block;
	if (start == 0 || super[124] > 31 || bytes > XFS_LOG_MAX || bytes == 0) {
		*ret_objection = start ? "its superblock is damaged: run xfs_repair" : "its log is on another device";
		return 0;
	}
	mask = ((uint64_t)1 << super[124]) - 1;
	log = ((start >> super[124]) * get_be32(super + 84) + (start & mask)) * block;
	r = newest_record(&area, log, bytes, &newest, fault);
	if (r < 0)
		return r;
	if (newest.lsn == 0) { // mkfs writes the first one
		*ret_doubt = "its log holds no record";
		return 0;
	}
	r = area_read(&area, operation, sizeof(operation), log + (newest.at + newest.blocks * BASIC) % bytes, fault);
	if (r == 0 && (newest.operations != 1 || !(operation[9] & XFS_UNMOUNT)))
		*ret_objection = "its log must be replayed: mount and unmount it";
	return r;
}

static const char not_shut_down[] =
	"it was not shut down cleanly: start Windows and shut it down (shutdown /s), or run chkdsk";

// The value of the attribute $VOLUME_INFORMATION; NULL: there is none.
static const uint8_t *volume_information(const uint8_t *record, size_t size) {
	size_t at = get_le16(record + 20);

	while (at + 24 <= size) {
		size_t bytes = get_le32(record + at + 4), value = at + get_le16(record + at + 20);
		if (get_le32(record + at) == 0x70)
			return value + 12 <= size ? record + value : NULL;
		if (bytes < 24 || bytes > size - at)
			return NULL;
		at += bytes;
	}
	return NULL;
}

#define RESTART_AT 24	// restart page: where its area is
#define RESTART_PAGE 16 // its size
#define NTFS_PAGE 4096u // usual one
enum { AREA_LSN = 0, AREA_CLIENT = 12, AREA_FLAGS = 14, AREA_SIZE = 16 };

// A page of which the newer of two shows whether the log is open. Not so if it has never been written.
static bool is_restart(const uint8_t *page, const uint8_t **ret_area) {
	size_t at = get_le16(page + RESTART_AT);

	*ret_area = page + at;
	return (!memcmp(page, "RSTR", 4) || !memcmp(page, "CHKD", 4)) && at >= 32 && at <= BASIC - AREA_SIZE;
}

static bool is_open(const uint8_t *area) {
	return get_le16(area + AREA_CLIENT) != UINT16_MAX && !(get_le16(area + AREA_FLAGS) & 2);
}

static int read_log(const struct area *area, uint64_t at, const char **ret_objection, const char **ret_doubt,
		    struct fault *fault) {
	uint8_t first[BASIC], second[BASIC];
	const uint8_t *one, *two;
	bool has_one, has_two;
	uint32_t page;
	int r = area_read(area, first, sizeof(first), at, fault);

	if (r < 0)
		return r;
	has_one = is_restart(first, &one);
	page = has_one ? get_le32(first + RESTART_PAGE) : NTFS_PAGE;
	r = area_read(area, second, sizeof(second), at + page, fault);
	if (r < 0)
		return r;
	has_two = is_restart(second, &two);
	if (!has_one && !has_two && (get_le32(first) != UINT32_MAX || get_le32(second) != UINT32_MAX))
		*ret_doubt = "its log is damaged";
	if (has_one && has_two && get_le64(two + AREA_LSN) > get_le64(one + AREA_LSN))
		has_one = false;
	if (has_one ? is_open(one) : has_two && is_open(two))
		*ret_objection = not_shut_down;
	return 0;
}

// The rule of ntfs-3g: nobody has the log open, or it is marked as clean. What it holds may be in no other place, bits
// of the bitmap among it. The file $LogFile is the third record.
static int check_log(const struct area *area, const uint8_t *boot, const char **ret_objection, const char **ret_doubt,
		     struct fault *fault) {
	uint8_t record[NTFS_RECORD_MAX];
	struct ntfs_file file;
	struct ntfs_run run;
	uint64_t bytes;
	int r;

	if (!ntfs_place(boot, 2, &file) || file.at > area->bytes)
		return 0;
	r = area_read(area, record, file.record, file.at, fault);
	if (r < 0)
		return r;
	if (!ntfs_data(record, file.record, &run, &bytes) || !ntfs_next_run(&run) ||
	    run.cluster > area->bytes / file.cluster) {
		*ret_doubt = "its log cannot be read";
		return 0;
	}
	return read_log(area, run.cluster * file.cluster, ret_objection, ret_doubt, fault);
}

// The file $Volume is the fourth record of the master file table.
int clean_ntfs(const struct reader *reader, const struct partition *partition, const char **ret_objection,
	       const char **ret_doubt, struct fault *fault) {
	const struct area area = {reader, partition->start, partition->bytes};
	uint8_t boot[BASIC], record[NTFS_RECORD_MAX];
	const uint8_t *information;
	struct ntfs_file file;
	int r = area_read(&area, boot, sizeof(boot), 0, fault);

	if (r < 0)
		return r;
	*ret_objection = "its volume record is damaged: run chkdsk";
	if (!ntfs_place(boot, 3, &file) || file.at > area.bytes)
		return 0;
	r = area_read(&area, record, file.record, file.at, fault);
	if (r < 0)
		return r;
	information = memcmp(record, "FILE", 4) ? NULL : volume_information(record, file.record);
	if (information)
		*ret_objection = get_le16(information + 10) & 1 ? not_shut_down : NULL;
	if (!*ret_objection)
		r = check_log(&area, boot, ret_objection, ret_doubt, fault);
	return r < 0 || *ret_objection ? r : ntfs_check_sleep(reader, partition, boot, ret_objection, fault);
}

// The newer of the two checkpoints shows whether it was unmounted. If not, there may be data that no map contains.
int clean_f2fs(const struct reader *reader, const struct partition *partition, const char **ret_objection,
	       const char **ret_doubt, struct fault *fault) {
	const struct area area = {reader, partition->start, partition->bytes};
	uint8_t super[1024 + BASIC], one[BASIC], two[BASIC];
	uint64_t at, segment;
	int r = area_read(&area, super, sizeof(super), 0, fault);

	(void)ret_doubt;
	if (r < 0)
		return r;
	at = (uint64_t)get_le32(super + 1024 + 76) << get_le32(super + 1024 + 16) % 32;
	segment = UINT64_C(1) << (get_le32(super + 1024 + 16) + get_le32(super + 1024 + 20)) % 32;
	r = area_read(&area, one, sizeof(one), at, fault);
	if (r == 0)
		r = area_read(&area, two, sizeof(two), at + segment, fault);
	if (r == 0 && !(get_le32((get_le64(two) > get_le64(one) ? two : one) + 132) & 1))
		*ret_objection = "it was not unmounted: mount and unmount it";
	return r;
}

static int compare_tables(const struct area *area, uint64_t first, uint64_t second, uint64_t bytes, bool *ret_differ,
			  struct fault *fault) {
	cleanup_free uint8_t *one = aligned_alloc(READ_ALIGN, PIECE), *two = aligned_alloc(READ_ALIGN, PIECE);
	int r = one && two ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "fat tables");

	for (uint64_t at = 0; r == 0 && at < bytes && !*ret_differ; at += PIECE) {
		size_t n = bytes - at < PIECE ? (size_t)(bytes - at) : PIECE;
		r = area_read(area, one, n, first + at, fault);
		if (r == 0)
			r = area_read(area, two, n, second + at, fault);
		*ret_differ = r == 0 && memcmp(one, two, n) != 0;
	}
	return r;
}

// Linux has its flag of a mounted filesystem in the boot sector, others have theirs in the table. The map, and what it
// is compared with, are both of the first table: only the second one shows that it is damaged.
int clean_fat(const struct reader *reader, const struct partition *partition, const char **ret_objection,
	      const char **ret_doubt, struct fault *fault) {
	const struct area area = {reader, partition->start, partition->bytes};
	uint8_t boot[BASIC];
	uint64_t sector, bytes, first;
	bool differ = false;
	int r = area_read(&area, boot, sizeof(boot), 0, fault);

	if (r < 0)
		return r;
	if (boot[get_le16(boot + 22) ? 37 : 65] & 1)
		*ret_objection = "it was not unmounted: run fsck.fat";
	sector = get_le16(boot + 11);
	bytes = (get_le16(boot + 22) ? get_le16(boot + 22) : get_le32(boot + 36)) * sector;
	first = get_le16(boot + 14) * sector;
	if (boot[16] == 2)
		r = compare_tables(&area, first, first + bytes, bytes, &differ, fault);
	if (differ)
		*ret_doubt = "its two tables differ: run fsck.fat";
	return r;
}
