// SPDX-License-Identifier: Apache-2.0
#include "pack/ntfs_sleep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "pack/ntfs.h"

#define ROOT 5u // record of the root folder
#define INDEX_ROOT 0x90u
#define INDEX_ALLOCATION 0xa0u
#define DATA 0x80u
#define BLOCK_MAX 65536u
#define FOLDER_MAX ((uint64_t)64 << 20) // bytes of the root folder that are read
#define HEADER 4096u			// of a hibernation file

struct volume {
	const struct reader *reader;
	uint64_t start, bytes;
	const uint8_t *boot;
	uint64_t cluster;
};

static int volume_read(const struct volume *volume, void *data, size_t size, uint64_t at, struct fault *fault) {
	if (at > volume->bytes || size > volume->bytes - at)
		return -ERANGE;
	return reader_read(volume->reader, data, size, volume->start + at, fault);
}

static int read_record(const struct volume *volume, uint64_t at, uint8_t *record, size_t size, struct fault *fault) {
	int r = volume_read(volume, record, size, at, fault);
	return r == 0 && !ntfs_repair(record, size, "FILE") ? -ERANGE : r;
}

// The byte of a record, which may be in any piece of the master file table.
static int place_of(const struct volume *volume, uint64_t number, size_t size, uint64_t *ret, struct fault *fault) {
	uint8_t record[NTFS_RECORD_MAX];
	struct ntfs_file table;
	struct ntfs_run run;
	uint64_t bytes, left;
	int r;

	if (!ntfs_place(volume->boot, 0, &table))
		return -ERANGE;
	r = volume_read(volume, record, table.record, table.at, fault);
	if (r < 0 || !ntfs_data(record, table.record, &run, &bytes))
		return r < 0 ? r : -ERANGE;
	left = number * size;
	while (ntfs_next_run(&run)) {
		uint64_t piece = run.count > bytes / volume->cluster + 1 ? bytes : run.count * volume->cluster;
		if (left < piece && run.cluster <= volume->bytes / volume->cluster) {
			*ret = run.cluster * volume->cluster + left;
			return 0;
		}
		left -= left < piece ? left : piece;
	}
	return -ERANGE;
}

// Looks for the name in the blocks of the root's index. One that is not in use may hold it too: its reference shows it.
static int find_in_blocks(const struct volume *volume, const uint8_t *attribute, size_t block, const char *name,
			  uint64_t *ret, struct fault *fault) {
	cleanup_free uint8_t *data = malloc(BLOCK_MAX);
	struct ntfs_run run = {.next = attribute + get_le16(attribute + 32),
			       .end = attribute + get_le32(attribute + 4)};
	uint64_t left = FOLDER_MAX;

	if (!data)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "ntfs");
	while (!*ret && ntfs_next_run(&run)) {
		if (run.cluster > volume->bytes / volume->cluster || run.count > left / volume->cluster)
			return -ERANGE;
		left -= run.count * volume->cluster;
		for (uint64_t at = 0; !*ret && at + block <= run.count * volume->cluster; at += block) {
			int r = volume_read(volume, data, block, run.cluster * volume->cluster + at, fault);
			size_t first = 24 + (r < 0 ? 0 : get_le32(data + 24)),
			       end = 24 + (r < 0 ? 0 : get_le32(data + 28));
			if (r < 0)
				return r;
			if (ntfs_repair(data, block, "INDX") && first <= end && end <= block)
				*ret = ntfs_find_name(data + first, end - first, name);
		}
	}
	return 0;
}

static int find_in_root(const struct volume *volume, const char *name, uint64_t *ret, struct fault *fault) {
	uint8_t record[NTFS_RECORD_MAX];
	const uint8_t *small, *large;
	struct ntfs_file file;
	size_t value, bytes, block;
	int r;

	*ret = 0;
	if (!ntfs_place(volume->boot, ROOT, &file))
		return -ERANGE;
	r = read_record(volume, file.at, record, file.record, fault);
	if (r < 0)
		return r;
	small = ntfs_attribute(record, file.record, INDEX_ROOT);
	large = ntfs_attribute(record, file.record, INDEX_ALLOCATION);
	if (!small || small[8] != 0)
		return -ERANGE;
	value = get_le16(small + 20);
	bytes = get_le32(small + 4);
	if (value + 32 > bytes)
		return -ERANGE;
	block = get_le32(small + value + 8);
	*ret = ntfs_find_name(small + value + 32, bytes - value - 32, name);
	if (*ret || !large)
		return 0;
	if (large[8] != 1 || get_le32(large + 4) < 64 || get_le16(large + 32) > get_le32(large + 4) || block < 512 ||
	    block > BLOCK_MAX)
		return -ERANGE;
	return find_in_blocks(volume, large, block, name, ret, fault);
}

static bool is_asleep(const uint8_t *mark) { return !memcmp(mark, "HIBR", 4) || !memcmp(mark, "hibr", 4); }

// ntfs-3g's rule: the header states it, or there is none.
static int check_file(const struct volume *volume, uint64_t reference, bool *ret, struct fault *fault) {
	uint8_t record[NTFS_RECORD_MAX], mark[512];
	struct ntfs_file file;
	struct ntfs_run run;
	uint64_t at, bytes;
	int r;

	if (!ntfs_place(volume->boot, 0, &file))
		return -ERANGE;
	r = place_of(volume, reference & 0xffffffffffff, file.record, &at, fault);
	if (r == 0)
		r = volume_read(volume, record, file.record, at, fault);
	if (r < 0)
		return r;
	if (memcmp(record, "FILE", 4) || get_le16(record + 16) != reference >> 48 || !(get_le16(record + 22) & 1))
		return 0; // the name was left behind
	*ret = true;
	if (!ntfs_data(record, file.record, &run, &bytes))
		return 0;
	if (bytes < HEADER || !ntfs_next_run(&run) || run.cluster > volume->bytes / volume->cluster)
		return 0;
	r = volume_read(volume, mark, sizeof(mark), run.cluster * volume->cluster, fault);
	*ret = r == 0 && is_asleep(mark);
	return r;
}

int ntfs_check_sleep(const struct reader *reader, const struct partition *partition, const uint8_t *boot,
		     const char **ret_objection, struct fault *fault) {
	struct volume volume = {reader, partition->start, partition->bytes, boot, 0};
	struct ntfs_file file = {0};
	uint64_t reference = 0;
	bool asleep = false;
	int r = ntfs_place(boot, 0, &file) ? 0 : -ERANGE;

	volume.cluster = file.cluster;
	if (r == 0)
		r = find_in_root(&volume, "hiberfil.sys", &reference, fault);
	if (r == 0 && reference)
		r = check_file(&volume, reference, &asleep, fault);
	if (r == -ERANGE)
		*ret_objection = "whether Windows hibernates in it cannot be read: run chkdsk";
	else if (asleep)
		*ret_objection = "Windows hibernates in it, maybe by fast startup: shutdown /s, or powercfg /h off";
	return r == -ERANGE ? 0 : r;
}
