// SPDX-License-Identifier: Apache-2.0
// A file or any block device for the disk, a short patience for the network: see disk/seam.h.
#include "disk/seam.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk/fd.h"

static int file_cannot(struct device *device, uint64_t offset, uint64_t size) {
	(void)device, (void)offset, (void)size;
	return -EOPNOTSUPP;
}

static int file_nothing(struct device *device) {
	(void)device;
	return 0;
}

static bool open_block(const char *path, dev_t number, struct device *ret) {
	struct disk disk = {.name = "block", .number = number, .sector = 512};
	struct fault fault;

	snprintf(disk.node, sizeof(disk.node), "%s", path);
	if (device_open_disk(&(struct disks){0}, &disk, ret, &fault) < 0)
		abort();
	return true;
}

static bool open_path(const char *path, struct device *ret) {
	static const struct device_ops ops = {fd_pread,	   fd_pwrite,	 file_cannot,
					      file_cannot, file_nothing, file_nothing};
	struct stat st;

	if (stat(path, &st) == 0 && S_ISBLK(st.st_mode))
		return open_block(path, st.st_rdev, ret);
	*ret = (struct device){.ops = &ops, .fd = open(path, O_RDWR | O_CLOEXEC), .name = "file", .sector = 512};
	if (ret->fd < 0 || fstat(ret->fd, &st) < 0)
		abort();
	ret->bytes = (uint64_t)st.st_size;
	return true;
}

const char *seam_root(void) {
	const char *root = getenv("SLED_TEST_ROOT");
	return root ? root : "";
}

// Its name is that of the disk, as messages have it.
bool seam_open_node(const struct disk *disk, struct device *ret) {
	char path[PATH_MAX];

	if (!*seam_root())
		return false;
	snprintf(path, sizeof(path), "%s%s", seam_root(), disk->node);
	open_path(path, ret);
	snprintf(ret->name, sizeof(ret->name), "%s", disk->name);
	return true;
}

unsigned seam_count(void) {
	const char *paths = getenv("SLED_TEST_DISK");
	unsigned count = paths != NULL;

	for (; paths && *paths; paths++)
		count += *paths == ':';
	return count;
}

bool seam_open_at(unsigned number, struct device *ret) {
	char *copy = strdup(getenv("SLED_TEST_DISK")), *rest = copy, *path = strsep(&rest, ":");
	bool opened;

	while (number-- > 0)
		path = strsep(&rest, ":");
	opened = open_path(path, ret);
	free(copy);
	return opened;
}

bool seam_open(struct device *ret) { return seam_count() > 0 && seam_open_at(0, ret); }

int64_t seam_idle(int64_t usual) {
	const char *seconds = getenv("SLED_TEST_IDLE");
	return seconds ? atoi(seconds) * INT64_C(1000000000) : usual;
}
