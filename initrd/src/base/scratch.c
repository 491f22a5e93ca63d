// SPDX-License-Identifier: Apache-2.0
#include "base/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"

#define PAGE 4096u
#define PIECE ((size_t)1 << 20)

static int open_named(const char *folder) {
	cleanup_free char *path = NULL;
	int fd;

	if (asprintf(&path, "%s/.sled-XXXXXX", folder) < 0)
		return -ENOMEM;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

int scratch_open(const char *folder, struct fault *fault) {
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) // NFS and others
		fd = open_named(folder);
	else if (fd < 0)
		fd = -errno;
	return fd < 0 ? fault_errno(fault, CODE_FAILED, fd, "%s: creating a temporary file", folder) : fd;
}

static int write_at(int fd, const uint8_t *data, size_t size, uint64_t at) {
	while (size > 0) {
		ssize_t n = pwrite(fd, data, size, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		data += n;
		at += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

int scratch_write(int fd, const void *data, size_t size, uint64_t at, struct fault *fault) {
	const uint8_t *p = data;
	int r = 0;

	for (size_t from = 0, to; r == 0 && from < size; from = to) {
		bool zero = is_zero(p + from, size - from < PAGE ? size - from : PAGE);
		for (to = from; to < size; to += PAGE)
			if (is_zero(p + to, size - to < PAGE ? size - to : PAGE) != zero)
				break;
		to = to < size ? to : size;
		if (!zero)
			r = write_at(fd, p + from, to - from, at + from);
	}
	return r < 0 ? fault_errno(fault, CODE_FAILED, r, "writing a temporary file") : 0;
}

static int copy_piece(int fd, uint64_t at, int from, uint64_t start, size_t size, uint8_t *piece, struct fault *fault) {
	ssize_t n;

	do
		n = pread(from, piece, size, (off_t)start);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return fault_errno(fault, CODE_FAILED, n < 0 ? errno : EIO, "read at byte %llu",
				   (unsigned long long)start);
	if (scratch_write(fd, piece, (size_t)n, at, fault) < 0)
		return -EIO;
	return (int)n;
}

int scratch_copy(int fd, uint64_t at, int from, uint64_t start, uint64_t bytes, struct fault *fault) {
	cleanup_free uint8_t *piece = aligned_alloc(PAGE, PIECE);
	uint64_t end = start + bytes;
	int n;

	if (!piece)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "a temporary file");
	for (uint64_t now = start; now < end; now += (uint64_t)n) {
		off_t data = lseek(from, (off_t)now, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			break;
		if (data > (off_t)now)
			now = (uint64_t)data / PAGE * PAGE > now ? (uint64_t)data / PAGE * PAGE : now;
		if (now >= end)
			break;
		n = copy_piece(fd, at + (now - start), from, now, end - now < PIECE ? (size_t)(end - now) : PIECE,
			       piece, fault);
		if (n < 0)
			return n;
	}
	return 0;
}
