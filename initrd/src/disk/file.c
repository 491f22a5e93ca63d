// SPDX-License-Identifier: Apache-2.0
// A regular file in place of a disk. Only for people at a shell: a plan cannot name one.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "disk/device.h"
#include "disk/fd.h"
#include "disk/in_use.h"

static int file_range(struct device *device, int how, uint64_t offset, uint64_t size) {
	uint64_t at;
	int r = device_place(device, offset, size, &at);

	if (r == 0 && fallocate(device->fd, how | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)size) < 0)
		r = -errno;
	return r;
}

static int file_discard(struct device *device, uint64_t offset, uint64_t size) {
	return file_range(device, FALLOC_FL_PUNCH_HOLE, offset, size);
}

static int file_zero(struct device *device, uint64_t offset, uint64_t size) {
	int r = file_range(device, FALLOC_FL_PUNCH_HOLE, offset, size); // reads as zeros and takes no room
	return r < 0 ? file_range(device, FALLOC_FL_ZERO_RANGE, offset, size) : r;
}

static int file_reread(struct device *device) {
	(void)device;
	return 0;
}

static const struct device_ops file_ops = {fd_pread, fd_pwrite, file_discard, file_zero, fd_sync, file_reread};

// Some filesystems have no O_DIRECT, some only for certain sizes: not for a partition, which may start anywhere.
static int open_direct(const char *path, uint64_t bytes) {
	const int flags = O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC;
	int fd = bytes > 0 && bytes % BLOCK_ALIGN == 0 ? open(path, flags | O_DIRECT, 0666) : -1;
	return fd >= 0 ? fd : open(path, flags, 0666);
}

int device_open_file(const char *path, uint64_t bytes, uint32_t sector, struct device *ret, struct fault *fault) {
	cleanup_close int fd = open_direct(path, bytes);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_errno(fault, CODE_DISK, errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return fault_set(fault, CODE_DISK, "%s is not a regular file; select a disk with disk=", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return fault_errno(fault, CODE_DISK, errno, "%s is in use", path);
	if (in_use_check("", fd, true, fault) < 0)
		return fault_prefix(fault, -EBUSY, "%s: ", path);
	if ((uint64_t)st.st_size > bytes && (uint64_t)st.st_size % BLOCK_ALIGN)
		return fault_set(fault, CODE_DISK, "%s: its size of %lld bytes is not a multiple of %u", path,
				 (long long)st.st_size, BLOCK_ALIGN);
	if ((uint64_t)st.st_size < bytes && ftruncate(fd, (off_t)bytes) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s: %llu bytes", path, (unsigned long long)bytes);
	*ret = (struct device){.ops = &file_ops, .fd = steal_fd(&fd), .sector = sector};
	ret->bytes = (uint64_t)st.st_size > bytes ? (uint64_t)st.st_size : bytes;
	snprintf(ret->name, sizeof(ret->name), "%s", path);
	return 0;
}
