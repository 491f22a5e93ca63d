// SPDX-License-Identifier: Apache-2.0
#include "pack/partition_path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/child.h"
#include "base/cleanup.h"
#include "base/scratch.h"
#include "disk/sysfs.h"

#define LOOP_TRIES 16u // other programs may take the same loop device

// Whether the kernel has a device for that partition, with that name.
static bool is_partition(const char *disk, const char *name, const struct partition *partition) {
	return sysfs_number(UINT64_MAX, "%s/%s/start", disk, name) == partition->start / SECTOR &&
	       sysfs_number(UINT64_MAX, "%s/%s/size", disk, name) == partition->bytes / SECTOR;
}

static bool use_partition(const struct stat *st, const struct partition *partition, struct partition_path *ret) {
	cleanup_dir DIR *dir = NULL;
	struct dirent *entry;
	char disk[64];

	snprintf(disk, sizeof(disk), "/sys/dev/block/%u:%u", major(st->st_rdev), minor(st->st_rdev));
	dir = opendir(disk);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && is_partition(disk, entry->d_name, partition)) {
			snprintf(ret->path, sizeof(ret->path), "/dev/%s", entry->d_name);
			return access(ret->path, R_OK) == 0;
		}
	return false;
}

static int configure(int loop, int disk, const struct partition *partition) {
	struct loop_config config = {.fd = (uint32_t)disk};

	config.info.lo_offset = partition->start;
	config.info.lo_sizelimit = partition->bytes;
	config.info.lo_flags = LO_FLAGS_READ_ONLY | LO_FLAGS_AUTOCLEAR; // released when the last user closes it
	return ioctl(loop, LOOP_CONFIGURE, &config) < 0 ? -errno : 0;
}

// False: there are no loop devices, or not for this user.
static bool use_loop(const struct reader *reader, const struct partition *partition, struct partition_path *ret) {
	cleanup_close int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), disk = -1;
	char path[CHILD_PATH];

	// without O_DIRECT, which our descriptor may have
	disk = open(child_path(reader->fd, path), O_RDONLY | O_CLOEXEC);
	for (unsigned i = 0; control >= 0 && disk >= 0 && i < LOOP_TRIES; i++) {
		cleanup_close int loop = -1;
		int number = ioctl(control, LOOP_CTL_GET_FREE), r;
		snprintf(ret->path, sizeof(ret->path), "/dev/loop%d", number);
		if (number < 0 || (loop = open(ret->path, O_RDONLY | O_CLOEXEC)) < 0)
			return false;
		r = configure(loop, disk, partition);
		if (r == 0)
			ret->fd = steal_fd(&loop);
		if (r != -EBUSY)
			return r == 0;
	}
	return false;
}

static int use_copy(const struct reader *reader, const struct partition *partition, const char *folder,
		    struct partition_path *ret, struct fault *fault) {
	cleanup_close int fd = scratch_open(folder, fault);
	int r = fd < 0 ? fd : 0;

	if (r == 0 && ftruncate(fd, (off_t)partition->bytes) < 0)
		r = fault_errno(fault, CODE_FAILED, errno, "%s: copying a partition", folder);
	if (r == 0)
		r = scratch_copy(fd, 0, reader->fd, partition->start, partition->bytes, fault);
	if (r < 0)
		return fault_prefix(fault, r, "%s: partition at byte %llu: no loop device, and ", reader->name,
				    (unsigned long long)partition->start);
	ret->fd = steal_fd(&fd);
	child_path(ret->fd, ret->path);
	return 0;
}

int partition_path_open(const struct reader *reader, const struct partition *partition, const char *folder,
			bool guarded, struct partition_path *ret, struct fault *fault) {
	const struct partition place = {reader->start + partition->start, partition->bytes};
	struct stat st;

	*ret = (struct partition_path){.fd = -1};
	if (!guarded && place.start == 0 && partition->bytes == reader->bytes) {
		child_path(reader->fd, ret->path);
		return 0;
	}
	// While this process has the disk open exclusively, no other can open a partition exclusively, as some tools
	// do: a loop device is better.
	if (use_loop(reader, &place, ret))
		return 0;
	if (!guarded && fstat(reader->fd, &st) == 0 && S_ISBLK(st.st_mode) && use_partition(&st, &place, ret))
		return 0;
	return use_copy(reader, &place, folder, ret, fault);
}

void partition_path_close(struct partition_path *path) {
	if (path->fd >= 0)
		close(path->fd);
	path->fd = -1;
}
