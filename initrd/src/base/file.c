// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/cleanup.h"

int file_read_fd(int fd, size_t max, char **ret_data, size_t *ret_size) {
	cleanup_free char *data = NULL;
	size_t size = 0, room = 0;

	for (;;) {
		ssize_t n;
		if (size + 1 >= room) {
			char *more = realloc(data, room = room ? room * 2 : 4096);
			if (!more)
				return -ENOMEM;
			data = more;
		}
		n = read(fd, data + size, room - size - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		size += (size_t)n;
		if (size > max)
			return -EFBIG;
	}
	data[size] = 0;
	*ret_data = steal_pointer(&data);
	if (ret_size)
		*ret_size = size;
	return 0;
}

int file_read(const char *path, size_t max, char **ret_data, size_t *ret_size) {
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : file_read_fd(fd, max, ret_data, ret_size);
}

int file_read_tail(const char *path, size_t max, char **ret_data, size_t *ret_size) {
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if ((size_t)st.st_size > max && lseek(fd, st.st_size - (off_t)max, SEEK_SET) < 0)
		return -errno;
	// The file may grow while it is read: twice the requested size is still small.
	return file_read_fd(fd, max * 2, ret_data, ret_size);
}

int file_write_fd(int fd, const void *data, size_t size) {
	const char *from = data;
	while (size > 0) {
		ssize_t n = write(fd, from, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		from += n;
		size -= (size_t)n;
	}
	return 0;
}

static int write_new(const char *path, mode_t mode, const void *data, size_t size) {
	cleanup_close int fd = -1;
	int r;

	if (unlink(path) < 0 && errno != ENOENT)
		return -errno;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	r = file_write_fd(fd, data, size);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	return r;
}

int file_write_atomic(const char *path, mode_t mode, const void *data, size_t size) {
	cleanup_free char *temporary = NULL;
	int r;

	if (asprintf(&temporary, "%s.%d", path, (int)getpid()) < 0)
		return -ENOMEM;
	r = write_new(temporary, mode, data, size);
	if (r == 0 && rename(temporary, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(temporary);
	return r;
}

bool file_changed(const struct stat *before, const struct stat *after) {
	return before->st_size != after->st_size || before->st_mtim.tv_sec != after->st_mtim.tv_sec ||
	       before->st_mtim.tv_nsec != after->st_mtim.tv_nsec;
}
