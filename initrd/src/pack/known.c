// SPDX-License-Identifier: Apache-2.0
#include "pack/known.h"

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
		{"vfat", "fat"}, {"crypto_LUKS", "luks"}, {"LVM2_member", "lvm"}, {"linux_raid_member", "raid"},
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

static void add(struct known *known, const char *type, bool is_damaged) {
	size_t size = strlen(known->names);

	known->is_damaged |= is_damaged;
	if (known->count++ == 0)
		rename_type(type, known->name, sizeof(known->name));
	snprintf(known->names + size, sizeof(known->names) - size, "%s%s", size ? ", " : "", type);
}

// A descriptor without O_DIRECT, which that of the reader may have.
static int open_again(const struct reader *reader) {
	char path[CHILD_PATH];
	return open(child_path(reader->fd, path), O_RDONLY | O_CLOEXEC);
}

int known_read(const struct reader *reader, const struct partition *partition, struct known *ret, struct fault *fault) {
	cleanup_with(free_probe) blkid_probe probe = blkid_new_probe();
	cleanup_close int fd = open_again(reader);
	const char *type;
	int r = 0;

	*ret = (struct known){0};
	if (!probe || fd < 0 || blkid_probe_set_device(probe, fd, (blkid_loff_t)partition->start,
		(blkid_loff_t)partition->bytes) < 0)
		return fault_errno(fault, CODE_FAILED, fd < 0 || !probe ? errno : EIO, "%s: signatures", reader->name);
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_BADCSUM);
	while (ret->count < SIGNATURES_MAX && (r = blkid_do_probe(probe)) == 0)
		if (blkid_probe_lookup_value(probe, "TYPE", &type, NULL) == 0)
			add(ret, type, blkid_probe_has_value(probe, "SBBADCSUM"));
	return r < 0 ? fault_set(fault, CODE_FAILED, "%s: reading signatures failed", reader->name) : 0;
}
