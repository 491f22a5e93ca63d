// SPDX-License-Identifier: Apache-2.0
#include "pack/signatures.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/child.h"
#include "base/cleanup.h"

#define SIGNATURES_MAX 32u // that one partition may have

static void free_probe(blkid_probe *probe) { blkid_free_probe(*probe); }

// As the index names it: a-z, 0-9 and _.
static void rename_type(const char *type, char *ret, size_t size) {
	static const struct {
		const char *type, *name;
	} names[] = {
		{"vfat", "fat"},       {"crypto_LUKS", "luks"}, {"LVM2_member", "lvm"}, {"linux_raid_member", "raid"},
		{"zfs_member", "zfs"},
	};
	size_t n = 0;

	for (size_t i = 0; i < ELEMENTS(names); i++)
		if (!strcmp(type, names[i].type))
			type = names[i].name;
	for (; type[n] && n + 1 < size; n++) {
		char c = type[n] >= 'A' && type[n] <= 'Z' ? (char)(type[n] | 0x20) : type[n];
		ret[n] = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
	}
	ret[n] = 0;
}

static void add(struct signatures *signatures, const char *type, bool is_damaged) {
	size_t size = strlen(signatures->names);

	signatures->is_damaged |= is_damaged;
	if (signatures->count++ == 0)
		rename_type(type, signatures->name, sizeof(signatures->name));
	snprintf(signatures->names + size, sizeof(signatures->names) - size, "%s%s", size ? ", " : "", type);
}

// A descriptor without O_DIRECT, which that of the reader may have.
static int open_again(const struct reader *reader) {
	char path[CHILD_PATH];
	return open(child_path(reader->fd, path), O_RDONLY | O_CLOEXEC);
}

static int open_probe(const struct reader *reader, uint64_t start, uint64_t bytes, int fd, blkid_probe probe,
		      struct fault *fault) {
	if (probe && fd >= 0 && blkid_probe_set_device(probe, fd, (blkid_loff_t)start, (blkid_loff_t)bytes) == 0)
		return 0;
	return fault_errno(fault, CODE_FAILED, fd < 0 || !probe ? errno : EIO, "%s: signatures", reader->name);
}

// Boot code of a filesystem may look like a table of MBR without a partition.
static void find_table(blkid_probe probe, char *ret, size_t size) {
	blkid_partlist list = blkid_probe_get_partitions(probe);
	blkid_parttable table = list ? blkid_partlist_get_table(list) : NULL;
	const char *type = table ? blkid_parttable_get_type(table) : NULL;

	if (type && (strcmp(type, "dos") || blkid_partlist_numof_partitions(list) > 0))
		rename_type(type, ret, size);
}

int signatures_read(const struct reader *reader, const struct partition *partition, struct signatures *ret,
		    struct fault *fault) {
	cleanup_with(free_probe) blkid_probe probe = blkid_new_probe();
	cleanup_close int fd = open_again(reader);
	const char *type;
	int r = open_probe(reader, reader->start + partition->start, partition->bytes, fd, probe, fault);

	*ret = (struct signatures){0};
	if (r < 0)
		return r;
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_BADCSUM);
	while (ret->count < SIGNATURES_MAX && (r = blkid_do_probe(probe)) == 0)
		if (blkid_probe_lookup_value(probe, "TYPE", &type, NULL) == 0)
			add(ret, type, blkid_probe_has_value(probe, "SBBADCSUM"));
	if (r < 0)
		return fault_set(fault, CODE_FAILED, "%s: reading signatures failed", reader->name);
	find_table(probe, ret->table, sizeof(ret->table));
	return 0;
}
