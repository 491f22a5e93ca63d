// SPDX-License-Identifier: Apache-2.0
#include "disk/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

void *device_buffer(size_t size) {
	void *buffer = aligned_alloc(BLOCK_ALIGN, (size + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN);
	if (buffer)
		memset(buffer, 0, size);
	return buffer;
}

void device_narrow(struct device *device, const struct partition *partition, unsigned number) {
	size_t size = strlen(device->name);

	device->start += partition->start;
	device->bytes = partition->bytes;
	device->is_partition = true;
	snprintf(device->name + size, sizeof(device->name) - size, ", partition %u", number);
}

int device_place(const struct device *device, uint64_t offset, uint64_t size, uint64_t *ret) {
	if (offset > device->bytes || size > device->bytes - offset)
		return -ERANGE;
	*ret = device->start + offset;
	return 0;
}

static int transfer_fault(const struct device *device, int error, const char *what, uint64_t offset,
			  struct fault *fault) {
	return fault_errno(fault, CODE_FAILED, error, "%s: %s at byte %llu", device->name, what,
			   (unsigned long long)offset);
}

int device_read(struct device *device, void *data, size_t size, uint64_t offset, struct fault *fault) {
	for (char *to = data; size > 0;) {
		ssize_t n = device->ops->pread(device, to, size, offset);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return transfer_fault(device, n < 0 ? (int)n : EIO, "read", offset, fault);
		to += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

int device_write(struct device *device, const void *data, size_t size, uint64_t offset, struct fault *fault) {
	for (const char *from = data; size > 0;) {
		ssize_t n = device->ops->pwrite(device, from, size, offset);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return transfer_fault(device, n < 0 ? (int)n : EIO, "write", offset, fault);
		from += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

static int write_zeros(struct device *device, uint64_t offset, uint64_t size, struct fault *fault) {
	cleanup_free void *zeros = device_buffer(BLOCK);
	int r = zeros ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "zeros");

	while (r == 0 && size > 0) {
		size_t n = size < BLOCK ? (size_t)size : BLOCK;
		r = device_write(device, zeros, n, offset, fault);
		offset += n;
		size -= n;
	}
	return r;
}

int device_zero(struct device *device, uint64_t offset, uint64_t size, struct fault *fault) {
	int r;

	do
		r = device->ops->zero(device, offset, size);
	while (r == -EINTR);
	if (r == 0)
		return 0;
	// Whatever the reason of the failure: plain writes succeed, or report the error.
	return write_zeros(device, offset, size, fault);
}

bool device_is_gone(int error) { return error == -ENODEV || error == -ENXIO || error == -ENOMEDIUM; }

int device_sync(struct device *device, struct fault *fault) {
	int r;

	do
		r = device->ops->sync(device);
	while (r == -EINTR);
	return r < 0 ? fault_errno(fault, CODE_FAILED, r, "%s: sync", device->name) : 0;
}

void device_reread(struct device *device) { (void)device->ops->reread(device); }
