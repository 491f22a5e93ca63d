// SPDX-License-Identifier: Apache-2.0
#include "base/border.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/border_open.h"
#include "base/cleanup.h"
#include "base/file.h"

#define TRIES 100 // of openat2, which fails while another process renames folders
#define INSIDE (RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS)

// What the tree does not allow; anything else failed.
static bool is_refusal(int error) {
	static const int refusals[] = {ELOOP, ENOTDIR, EISDIR,	     EXDEV, EPERM,     EACCES,
				       EFBIG, ENOENT,  ENAMETOOLONG, ENXIO, ENOTEMPTY, EEXIST};

	for (size_t i = 0; i < ELEMENTS(refusals); i++)
		if (error == refusals[i])
			return true;
	return false;
}

int border_fault(struct fault *fault, int error, const char *path) {
	error = error < 0 ? -error : error;
	if (error == EXDEV)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "%s of the installed system is in a filesystem that cannot be mounted here", path);
	return fault_errno(fault, is_refusal(error) ? CODE_UNSUPPORTED : CODE_FAILED, error,
			   "%s of the installed system", path);
}

bool border_is_missing(int error) {
	return error == -ENOENT || error == -ENOTDIR || error == -ELOOP || error == -EXDEV || error == -EACCES ||
	       error == -ENAMETOOLONG;
}

// Whether it is in a tmpfs that stands for a filesystem which cannot be mounted.
static bool is_covered(const struct border *border, int fd) {
	struct stat top, here;
	struct statfs filesystem;

	return fstat(border->fd, &top) == 0 && fstat(fd, &here) == 0 && top.st_dev != here.st_dev &&
	       fstatfs(fd, &filesystem) == 0 && filesystem.f_type == TMPFS_MAGIC;
}

int border_openat(const struct border *border, const char *path, int flags) {
	const struct open_how how = {.flags = (unsigned int)flags | O_CLOEXEC, .resolve = INSIDE};
	char whole[PATH_MAX];
	int fd = -1;

	if (snprintf(whole, sizeof(whole), "%s/%s", border->prefix, path) >= (int)sizeof(whole))
		return -ENAMETOOLONG;
	for (int i = 0; i < TRIES; i++) {
		fd = (int)syscall(SYS_openat2, border->fd, whole, &how, sizeof(how));
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	if (fd >= 0 && is_covered(border, fd)) {
		close(fd);
		return -EXDEV;
	}
	return fd < 0 ? -errno : fd;
}

int border_open(const char *folder, struct border *ret, struct fault *fault) {
	*ret = (struct border){.fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), .prefix = ""};
	return ret->fd < 0 ? fault_errno(fault, CODE_FAILED, errno, "%s", folder) : 0;
}

void border_close(struct border *border) {
	if (border->fd >= 0)
		close(border->fd);
	border->fd = -1;
}

static const char *kind_of(mode_t mode) {
	switch (mode & S_IFMT) {
	case S_IFDIR: return "a folder";
	case S_IFIFO: return "a FIFO";
	case S_IFSOCK: return "a socket";
	default: return "a device";
	}
}

// Sees what it is before it is opened: to open a device can change it.
int border_file(const struct border *border, const char *path, struct fault *fault) {
	cleanup_close int found = border_openat(border, path, O_PATH), fd = -1;
	struct stat st;

	if (found < 0 || fstat(found, &st) < 0)
		return border_fault(fault, found < 0 ? found : errno, path);
	if (!S_ISREG(st.st_mode))
		return fault_set(fault, CODE_UNSUPPORTED,
				 "%s of the installed system leads to %s, not to a regular file", path,
				 kind_of(st.st_mode));
	fd = border_openat(border, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? border_fault(fault, fd, path) : steal_fd(&fd);
}

int border_read(const struct border *border, const char *path, size_t max, char **ret_data, size_t *ret_size,
		struct fault *fault) {
	cleanup_close int fd = border_file(border, path, fault);
	int r = fd < 0 ? fd : file_read_fd(fd, max, ret_data, ret_size);

	if (r == -EFBIG)
		return fault_set(fault, CODE_UNSUPPORTED, "%s of the installed system has more than %zu bytes", path,
				 max);
	return r < 0 && fd >= 0 ? border_fault(fault, r, path) : r;
}

int border_read_any(const struct border *border, const char *path, size_t max, char **ret_data, struct fault *fault) {
	int r;

	*ret_data = NULL;
	r = border_read(border, path, max, ret_data, NULL, fault);
	return r < 0 && fault->code == CODE_UNSUPPORTED ? 0 : r;
}

// A comma would split a list of files, and a line feed a line.
static bool is_printable(const char *path) {
	for (; *path; path++)
		if ((unsigned char)*path < ' ' || *path == 0x7f || *path == ',')
			return false;
	return true;
}

bool border_locate(const struct border *border, const char *path, char ret[PATH_MAX]) {
	cleanup_close int fd = border_openat(border, path, O_PATH);
	char link[32];
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, ret, PATH_MAX - 1);
	ret[n < 0 ? 0 : n] = 0;
	return n > 0 && n < PATH_MAX - 1 && is_printable(ret);
}
