// SPDX-License-Identifier: Apache-2.0
// A file for the disk, a short patience for the network: see disk/seam.h.
#include "disk/seam.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static ssize_t file_pread(struct device *device, void *data, size_t size, uint64_t offset) {
	ssize_t n = pread(device->fd, data, size, (off_t)offset);
	return n < 0 ? -errno : n;
}

static ssize_t file_pwrite(struct device *device, const void *data, size_t size, uint64_t offset) {
	ssize_t n = pwrite(device->fd, data, size, (off_t)offset);
	return n < 0 ? -errno : n;
}

static int file_cannot(struct device *device, uint64_t offset, uint64_t size) {
	(void)device, (void)offset, (void)size;
	return -EOPNOTSUPP;
}

static int file_nothing(struct device *device) {
	(void)device;
	return 0;
}

bool seam_open(struct device *ret) {
	static const struct device_ops ops = {file_pread, file_pwrite, file_cannot, file_cannot, file_nothing, file_nothing};
	const char *path = getenv("SLED_TEST_DISK");
	struct stat st;

	if (!path)
		return false;
	*ret = (struct device){.ops = &ops, .fd = open(path, O_RDWR | O_CLOEXEC), .name = "file", .sector = 512};
	if (ret->fd < 0 || fstat(ret->fd, &st) < 0)
		abort();
	ret->bytes = (uint64_t)st.st_size;
	return true;
}

int64_t seam_idle(int64_t usual) {
	const char *seconds = getenv("SLED_TEST_IDLE");
	return seconds ? atoi(seconds) * INT64_C(1000000000) : usual;
}
