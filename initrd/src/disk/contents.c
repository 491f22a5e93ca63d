// SPDX-License-Identifier: Apache-2.0
#include "disk/contents.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/crew.h"
#include "base/operand.h"
#include "disk/choose.h"
#include "disk/lvm.h"

#define SIGNATURES_MAX 32u // that one content may have
#define BTRFS_DEVICES (65536u + 0x88u)
#define BCACHE_SET (4096u + 56u) // of bcache the UUID of the set, of bcachefs that of the filesystem
#define BCACHEFS_DEVICES (4096u + 123u)
#define XFS_LOG_START 48u // 0: on another device
#define EDGE 4096u
#define LISTED_MAX 32u // partitions of one disk in the facts

static void free_probe(blkid_probe *probe) { blkid_free_probe(*probe); }

static void add_group(int fd, uint64_t start, uint64_t bytes, char sets[SETS_MAX]) {
	struct reader reader = {.name = "lvm", .bytes = start + bytes, .fd = fd};
	struct lvm_group group;

	if (!lvm_read(&reader, start, bytes, &group))
		sets_add(sets, "lvm", "*");
	else if (group.id[0] && group.volumes > 1)
		sets_add(sets, "lvm", group.id);
}

static void add_btrfs(int fd, uint64_t start, const char *uuid, char sets[SETS_MAX]) {
	uint8_t devices[8];

	if (pread(fd, devices, sizeof(devices), (off_t)(start + BTRFS_DEVICES)) != sizeof(devices) ||
	    get_le64(devices) != 1)
		sets_add(sets, "btrfs", uuid);
}

// A backing device of bcache that has no cache has a set of zeros.
static void add_bcache(int fd, uint64_t start, const char *type, char sets[SETS_MAX]) {
	uint8_t set[16], devices = 0;
	char text[2 * sizeof(set) + 1];

	if (pread(fd, set, sizeof(set), (off_t)(start + BCACHE_SET)) != sizeof(set) ||
	    pread(fd, &devices, 1, (off_t)(start + BCACHEFS_DEVICES)) != 1)
		return sets_add(sets, type, "*");
	if (is_zero(set, sizeof(set)) || (!strcmp(type, "bcachefs") && devices == 1))
		return;
	for (size_t i = 0; i < sizeof(set); i++)
		snprintf(text + 2 * i, 3, "%02x", set[i]);
	sets_add(sets, type, text);
}

// As sets name it: in lower case, without "_member".
static void short_type(const char *type, char *ret, size_t size) {
	size_t n = 0;

	if (!strcmp(type, "linux_raid_member"))
		type = "md";
	for (; type[n] && n + 1 < size && strcmp(type + n, "_member"); n++)
		ret[n] = type[n] >= 'A' && type[n] <= 'Z' ? (char)(type[n] | 0x20) : type[n];
	ret[n] = 0;
}

// A filesystem whose journal or log is on another device, and that device.
static void add_journal(blkid_probe probe, int fd, uint64_t start, const char *type, const char *uuid,
			char sets[SETS_MAX]) {
	uint8_t log[8];

	if (!strcmp(type, "xfs")) {
		if (pread(fd, log, sizeof(log), (off_t)(start + XFS_LOG_START)) != sizeof(log) ||
		    is_zero(log, sizeof(log)))
			sets_add(sets, "xfs_external_log", uuid);
	} else if (blkid_probe_lookup_value(probe, "EXT_JOURNAL", &uuid, NULL) == 0) {
		sets_add(sets, "jbd", uuid);
	} else if (blkid_probe_lookup_value(probe, "LOGUUID", &uuid, NULL) == 0) {
		sets_add(sets, type, uuid);
	}
}

static void add_found(blkid_probe probe, int fd, uint64_t start, uint64_t bytes, char sets[SETS_MAX]) {
	const char *type = "", *uuid = "", *usage = "";
	char name[32];

	(void)blkid_probe_lookup_value(probe, "TYPE", &type, NULL);
	(void)blkid_probe_lookup_value(probe, "UUID", &uuid, NULL);
	(void)blkid_probe_lookup_value(probe, "USAGE", &usage, NULL);
	short_type(type, name, sizeof(name));
	if (!strcmp(type, "LVM2_member"))
		add_group(fd, start, bytes, sets);
	else if (!strcmp(type, "btrfs"))
		add_btrfs(fd, start, uuid, sets);
	else if (!strcmp(type, "bcache") || !strcmp(type, "bcachefs"))
		add_bcache(fd, start, name, sets);
	else if (!strcmp(usage, "raid") || !strcmp(type, "zfs_member"))
		sets_add(sets, name, uuid);
	else
		add_journal(probe, fd, start, type, uuid, sets);
}

// Several, joined by ",", if what one filesystem left is not gone.
static void add_type(blkid_probe probe, char types[CONTENTS_TYPE]) {
	const char *type = NULL;
	size_t size = strlen(types);

	if (blkid_probe_lookup_value(probe, "TYPE", &type, NULL) == 0 && size + 1 + strlen(type) < CONTENTS_TYPE)
		snprintf(types + size, CONTENTS_TYPE - size, "%s%s", size ? "," : "", type);
}

// `types`: also those of the signatures; NULL: not needed.
static bool read_signatures(int fd, uint64_t start, uint64_t bytes, char sets[SETS_MAX], char *types) {
	cleanup_with(free_probe) blkid_probe probe = blkid_new_probe();
	int r = 0;

	if (!probe || blkid_probe_set_device(probe, fd, (blkid_loff_t)start, (blkid_loff_t)bytes) != 0)
		return false;
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_UUID | BLKID_SUBLKS_USAGE);
	for (unsigned i = 0; i < SIGNATURES_MAX && (r = blkid_do_probe(probe)) == 0; i++) {
		add_found(probe, fd, start, bytes, sets);
		if (types)
			add_type(probe, types);
	}
	return r >= 0;
}

bool contents_sets(int fd, uint64_t start, uint64_t bytes, char sets[SETS_MAX]) {
	return read_signatures(fd, start, bytes, sets, NULL);
}

// libblkid takes a table that it cannot read for none.
static bool has_edges(int fd, const struct disk *disk) {
	uint8_t sector[EDGE];

	return pread(fd, sector, sizeof(sector), 0) == sizeof(sector) &&
	       (disk->bytes < sizeof(sector) ||
		pread(fd, sector, sizeof(sector), (off_t)(disk->bytes - sizeof(sector))) == sizeof(sector));
}

int contents_type(const char *path, char ret[CONTENTS_TYPE], struct fault *fault) {
	cleanup_with(free_probe) blkid_probe probe = blkid_new_probe();
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *type = NULL;
	int r;

	if (!probe || fd < 0 || blkid_probe_set_device(probe, fd, 0, 0) != 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", path);
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE);
	r = blkid_do_safeprobe(probe);
	if (r == -1)
		return fault_set(fault, CODE_FAILED, "%s: reading signatures failed", path);
	if (r != 0 || blkid_probe_lookup_value(probe, "TYPE", &type, NULL) != 0)
		return fault_set(fault, CODE_UNSUPPORTED, "%s has %s", path,
				 r == -2 ? "signatures of several contents" : "no signature");
	snprintf(ret, CONTENTS_TYPE, "%s", type);
	return 0;
}

static void add_name(struct text *text, const char *kind, const char *name) {
	if (name && *name)
		text_addf(text, "%s:%s\n", kind, name);
}

static void add_operand(struct text *text, const char *key, const char *value) {
	if (value && *value)
		operand_write(text, key, value);
}

static void list_partition(struct text *lines, const struct disk *disk, blkid_partition p, const char *types) {
	text_adds(lines, "partition");
	operand_write(lines, "disk", disk->name);
	text_addf(lines, " number=%d", blkid_partition_get_partno(p));
	add_operand(lines, "label", blkid_partition_get_name(p));
	add_operand(lines, "uuid", blkid_partition_get_uuid(p));
	text_addf(lines, " bytes=%llu", (unsigned long long)blkid_partition_get_size(p) * SECTOR);
	add_operand(lines, "type", types);
	text_adds(lines, "\n");
}

static void read_partitions(blkid_probe probe, int fd, struct disk *disk) {
	blkid_partlist list = blkid_probe_get_partitions(probe);
	struct text names = {0}, lines = {0};
	unsigned listed = 0;

	for (int i = 0; list && i < blkid_partlist_numof_partitions(list); i++) {
		blkid_partition p = blkid_partlist_get_partition(list, i);
		uint64_t start = (uint64_t)blkid_partition_get_start(p) * SECTOR;
		uint64_t bytes = (uint64_t)blkid_partition_get_size(p) * SECTOR;
		char types[CONTENTS_TYPE] = "";
		add_name(&names, "part-uuid", blkid_partition_get_uuid(p));
		add_name(&names, "part-label", blkid_partition_get_name(p));
		if (blkid_partition_is_extended(p))
			continue;
		if (start > 0 && start < disk->bytes && bytes <= disk->bytes - start &&
		    !read_signatures(fd, start, bytes, disk->sets, types))
			disk->unread = true;
		if (listed++ < LISTED_MAX)
			list_partition(&lines, disk, p, types);
	}
	disk->parts = names.data;
	disk->listed = lines.data;
}

static void read_one(const char *root, struct disk *disk) {
	cleanup_with(free_probe) blkid_probe probe = NULL;
	cleanup_close int fd = disk_open(root, disk);

	disk->unread = fd < 0 || !has_edges(fd, disk) || !contents_sets(fd, 0, disk->bytes, disk->sets);
	if (fd < 0)
		return;
	probe = blkid_new_probe();
	if (probe && blkid_probe_set_device(probe, fd, 0, (blkid_loff_t)disk->bytes) == 0)
		read_partitions(probe, fd, disk);
}

struct work {
	struct crew crew;
	const char *root;
	struct disks *disks;
};

static void *read_next(void *context) {
	struct work *work = context;
	uint32_t from, to;

	while (crew_take(&work->crew, 1, &from, &to)) {
		struct disk *disk = &work->disks->items[from];
		if (choose_is_disk(disk) && disk->bytes > 0)
			read_one(work->root, disk);
	}
	return NULL;
}

int contents_read(const char *root, struct disks *disks, struct fault *fault) {
	struct work work = {.crew = CREW_INIT((uint32_t)disks->count), .root = root, .disks = disks};

	blkid_init_debug(0); // before there are threads
	if (disks->count == 0)
		return 0;
	return crew_run(&work.crew, crew_size(CREW_MAX, CREW_MAX, work.crew.items), read_next, &work, fault);
}
