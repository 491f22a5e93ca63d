// SPDX-License-Identifier: Apache-2.0
#include "disk/fd.h"

#include <errno.h>
#include <unistd.h>

ssize_t fd_pread(struct device *device, void *data, size_t size, uint64_t offset) {
	uint64_t at;
	ssize_t n = device_place(device, offset, size, &at);

	if (n == 0 && (n = pread(device->fd, data, size, (off_t)at)) < 0)
		n = -errno;
	return n;
}

ssize_t fd_pwrite(struct device *device, const void *data, size_t size, uint64_t offset) {
	uint64_t at;
	ssize_t n = device_place(device, offset, size, &at);

	if (n == 0 && (n = pwrite(device->fd, data, size, (off_t)at)) < 0)
		n = -errno;
	return n;
}

int fd_sync(struct device *device) { return fsync(device->fd) < 0 ? -errno : 0; }

void device_close(struct device *device) {
	if (device->fd >= 0)
		close(device->fd);
	device->fd = -1;
	while (device->path_count)
		close(device->paths[--device->path_count]);
}
