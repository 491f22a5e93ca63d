// SPDX-License-Identifier: Apache-2.0
#include "disk/open_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "disk/choose.h"
#include "disk/fd.h"
#include "disk/scan.h"
#include "disk/seam.h"

static ssize_t no_pwrite(struct device *device, const void *data, size_t size, uint64_t offset) {
	(void)device, (void)data, (void)size, (void)offset;
	return -EBADF;
}

static int no_range(struct device *device, uint64_t offset, uint64_t size) {
	(void)device, (void)offset, (void)size;
	return -EBADF;
}

static int nothing(struct device *device) {
	(void)device;
	return 0;
}

static const struct device_ops read_ops = {fd_pread, no_pwrite, no_range, no_range, nothing, nothing};

// A disk that must not be written may still be read.
static void allow_reading(struct disks *disks) {
	for (size_t i = 0; i < disks->count; i++) {
		disks->items[i].in_use[0] = 0;
		disks->items[i].readonly = false;
	}
}

int device_open_read(const char *selector, struct device *ret, struct text *list, struct fault *fault) {
	cleanup_with(disks_free) struct disks disks = {0};
	const struct disk *disk = NULL;
	struct fault ignored;
	int r;

	if (seam_open(ret))
		return 0;
	r = scan_disks("", &disks, fault);
	if (r < 0)
		return r;
	allow_reading(&disks);
	r = choose_disk(&disks, selector, NULL, &disk, fault);
	if (r == 0)
		r = device_open_node(disk, O_RDONLY | O_DIRECT, &read_ops, ret, fault);
	if (r < 0)
		(void)choose_list(&disks, selector, NULL, list, &ignored);
	return r;
}

int device_open_read_file(const char *path, struct device *ret, struct fault *fault) {
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return fault_set(fault, CODE_USAGE, "%s is not a regular file; select a disk with disk=", path);
	*ret = (struct device){.ops = &read_ops, .fd = steal_fd(&fd), .bytes = (uint64_t)st.st_size, .sector = 512};
	snprintf(ret->name, sizeof(ret->name), "%s", path);
	return 0;
}
