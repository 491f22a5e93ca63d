// SPDX-License-Identifier: Apache-2.0
#include "disk/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "disk/identity.h"
#include "disk/machine_keep.h"
#include "disk/sysfs.h"
#include "disk/transport.h"
#include "disk/usage.h"

// Candidates are whole disks (contract/plan.md). Devices with these names never are.
static const struct {
	const char *prefix, *why;
} excluded_names[] = {
	{"loop", "a loop device"},
	{"ram", "a RAM disk"},
	{"zram", "a RAM disk"},
	{"sr", "an optical drive"},
	{"dm-", "a device-mapper device"},
	{"md", "an md array"},
	{"fd", "a floppy drive"},
	{"mtdblock", "raw flash"},
	{"bcache", "a virtual device"},
	{"drbd", "a virtual device"},
	{"nbd", "a virtual device"},
	{"rbd", "a virtual device"},
	{"zd", "a virtual device"},
};

static bool mmc_hardware_partition(const char *name) {
	return !strncmp(name, "mmcblk", 6) && (strstr(name, "boot") || strstr(name, "rpmb") || strstr(name, "gp"));
}

// nvme0c1n1 is one path of nvme0n1.
static bool nvme_path(const char *name) {
	unsigned subsystem, controller, namespace;
	return sscanf(name, "nvme%uc%un%u", &subsystem, &controller, &namespace) == 3;
}

void scan_exclude(struct disk *disk, bool hidden) {
	const char *why = NULL;

	for (size_t i = 0; i < ELEMENTS(excluded_names) && !why; i++) {
		size_t n = strlen(excluded_names[i].prefix);
		if (!strncmp(disk->name, excluded_names[i].prefix, n))
			why = excluded_names[i].why;
	}
	if (!why && mmc_hardware_partition(disk->name))
		why = "a hardware partition";
	if (!why && (hidden || nvme_path(disk->name)))
		why = "a path of another disk";
	if (!why && disk->removable && transport_may_be_removed(disk->transport))
		why = "removable";
	if (!why && disk->bytes == 0)
		why = "without a size";
	snprintf(disk->excluded, sizeof(disk->excluded), "%s", why ? why : "");
}

// Whatever its name: a device that is made of others, or by software. A kernel of the site may have drivers that nobody
// thought of.
static void exclude_virtual(const char *root, struct disk *disk) {
	char path[PATH_MAX];
	cleanup_dir DIR *dir = NULL;
	cleanup_free char *real = NULL;
	struct dirent *entry;

	snprintf(path, sizeof(path), "%s/sys/block/%s/slaves", root, disk->name);
	dir = opendir(path);
	while (dir && !disk->excluded[0] && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			snprintf(disk->excluded, sizeof(disk->excluded), "made of other disks");
	snprintf(path, sizeof(path), "%s/sys/block/%s", root, disk->name);
	real = realpath(path, NULL);
	if (real && strstr(real, "/devices/virtual/block/") && !disk->excluded[0])
		snprintf(disk->excluded, sizeof(disk->excluded), "a virtual device");
}

static void node_of(const char *name, char ret[NODE_MAX]) {
	snprintf(ret, NODE_MAX, "/dev/%.70s", name);
	for (char *c = ret; *c; c++)
		if (*c == '!') // sysfs writes ! in place of /
			*c = '/';
}

static DIR *open_folder(const char *root, const struct disk *disk, char **ret_path, struct fault *fault) {
	DIR *dir = NULL;

	if (asprintf(ret_path, "%s/sys/block/%s", root, disk->name) < 0 || !(dir = opendir(*ret_path)))
		(void)fault_errno(fault, CODE_FAILED, errno, "/sys/block/%s", disk->name);
	return dir;
}

// Returns whether that entry of the disk's folder is a partition.
static bool read_partition(const char *path, const struct disk *disk, const char *name, struct partition *ret) {
	uint64_t start;

	if (strncmp(name, disk->name, strlen(disk->name)) != 0)
		return false;
	start = sysfs_number(UINT64_MAX, "%s/%s/start", path, name);
	*ret = (struct partition){start * SECTOR, sysfs_number(0, "%s/%s/size", path, name) * SECTOR};
	return start != UINT64_MAX;
}

static int scan_partitions(const char *root, struct disk *disk, struct fault *fault) {
	cleanup_free char *path = NULL;
	cleanup_dir DIR *dir = open_folder(root, disk, &path, fault);
	struct partition partition;
	struct dirent *entry;

	if (!dir)
		return -EIO;
	while ((entry = readdir(dir))) {
		if (!read_partition(path, disk, entry->d_name, &partition))
			continue;
		if (disk->partition_count == PARTITIONS_MAX)
			return fault_set(fault, CODE_FAILED, "%s has more than %u partitions", disk->name,
					 PARTITIONS_MAX);
		disk->partitions[disk->partition_count++] = partition;
	}
	return 0;
}

int scan_partition_node(const char *root, const struct disk *disk, const struct partition *place, char ret[NODE_MAX],
			struct fault *fault) {
	cleanup_free char *path = NULL;
	cleanup_dir DIR *dir = open_folder(root, disk, &path, fault);
	struct partition partition;
	struct dirent *entry;

	if (!dir)
		return -EIO;
	while ((entry = readdir(dir)))
		if (read_partition(path, disk, entry->d_name, &partition) && partition.start == place->start &&
		    partition.bytes == place->bytes) {
			node_of(entry->d_name, ret);
			return 0;
		}
	return fault_set(fault, CODE_DISK,
			 "%s: the kernel knows no partition at byte %" PRIu64 ": it read another table", disk->name,
			 place->start);
}

static int scan_one(const char *root, const char *name, struct disk *disk, struct fault *fault) {
	unsigned major = 0, minor = 0;
	char number[32];

	*disk = (struct disk){0};
	snprintf(disk->name, sizeof(disk->name), "%.63s", name);
	node_of(disk->name, disk->node);
	sysfs_text(number, sizeof(number), "%s/sys/block/%s/dev", root, name);
	if (sscanf(number, "%u:%u", &major, &minor) == 2)
		disk->number = makedev(major, minor);
	disk->bytes = sysfs_number(0, "%s/sys/block/%s/size", root, name) * SECTOR;
	disk->sector = (uint32_t)sysfs_number(SECTOR, "%s/sys/block/%s/queue/logical_block_size", root, name);
	disk->rotational = sysfs_number(0, "%s/sys/block/%s/queue/rotational", root, name);
	disk->removable = sysfs_number(0, "%s/sys/block/%s/removable", root, name);
	disk->readonly = sysfs_number(0, "%s/sys/block/%s/ro", root, name);
	identity_find(root, disk);
	scan_exclude(disk, sysfs_number(0, "%s/sys/block/%s/hidden", root, name));
	exclude_virtual(root, disk);
	return scan_partitions(root, disk, fault);
}

static int by_name(const void *a, const void *b) {
	return strverscmp(((const struct disk *)a)->name, ((const struct disk *)b)->name);
}

int scan_disks(const char *root, struct disks *ret, struct fault *fault) {
	cleanup_with(disks_free) struct disks disks = {0};
	cleanup_dir DIR *dir = NULL;
	char path[PATH_MAX];
	struct dirent *entry;
	int r;

	snprintf(path, sizeof(path), "%s/sys/block", root);
	if (!(dir = opendir(path)))
		return fault_errno(fault, CODE_FAILED, errno, "%s", path);
	while ((entry = readdir(dir))) {
		struct disk *more;
		if (entry->d_name[0] == '.')
			continue;
		if (disks.count == DISKS_MAX)
			return fault_set(fault, CODE_FAILED, "more than %u block devices", DISKS_MAX);
		if (!(more = realloc(disks.items, (disks.count + 1) * sizeof(*more))))
			return fault_errno(fault, CODE_FAILED, ENOMEM, "list of disks");
		disks.items = more;
		if ((r = scan_one(root, entry->d_name, &disks.items[disks.count], fault)) < 0)
			return r;
		disks.count++;
	}
	if ((r = usage_find(root, &disks, fault)) < 0 || (r = machine_keep_read(root, &disks.keep, fault)) < 0)
		return r;
	if (disks.count)
		qsort(disks.items, disks.count, sizeof(*disks.items), by_name);
	*ret = disks;
	disks = (struct disks){0};
	return 0;
}
