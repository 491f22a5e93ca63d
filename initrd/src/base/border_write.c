// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/border.h"
#include "base/border_open.h"
#include "base/cleanup.h"
#include "base/file.h"

#define FOLDERS_MAX 64 // that are made for one path, through links too
#define TEMPORARY 24   // bytes of a temporary name

// A path in two parts: the folder, and the name in it.
struct split {
	char folder[PATH_MAX];
	const char *name;
};

static int split(const char *path, struct split *ret) {
	char *slash;

	if (snprintf(ret->folder, sizeof(ret->folder), "/%s", path) >= (int)sizeof(ret->folder))
		return -ENAMETOOLONG;
	slash = strrchr(ret->folder, '/');
	*slash = 0;
	ret->name = slash + 1;
	return *ret->name ? 0 : -EINVAL;
}

static int make_folders(const struct border *border, const char *path, int *left);

// What a link leads to: seen from its folder.
static int make_target(const struct border *border, const struct split *at, int folder, int *left) {
	char target[PATH_MAX], path[2 * PATH_MAX];
	ssize_t n = readlinkat(folder, at->name, target, sizeof(target) - 1);

	if (n < 0)
		return errno == EINVAL ? -ENOTDIR : -errno;
	target[n] = 0;
	snprintf(path, sizeof(path), "%s/%s", *target == '/' ? "" : at->folder, target);
	return make_folders(border, path, left);
}

// Opens a folder, after it and those above it are made. A link whose target is missing: its target is made.
static int make_folders(const struct border *border, const char *path, int *left) {
	cleanup_close int folder = -1;
	struct split at;
	int fd = border_openat(border, path, O_RDONLY | O_DIRECTORY), r;

	if (fd != -ENOENT)
		return fd;
	if (--*left < 0)
		return -ELOOP;
	r = split(path, &at);
	if (r == -EINVAL) // a slash at the end
		return make_folders(border, at.folder, left);
	if (r < 0)
		return r;
	folder = make_folders(border, at.folder, left);
	if (folder < 0)
		return folder;
	if (strcmp(at.name, "..") && strcmp(at.name, ".") && mkdirat(folder, at.name, 0755) < 0)
		return errno == EEXIST ? make_target(border, &at, folder, left) : -errno;
	return border_openat(border, path, O_RDONLY | O_DIRECTORY);
}

static int set_mode(int fd, const struct border_mode *mode) {
	bool has_owner = mode->uid != (uid_t)-1 || mode->gid != (gid_t)-1;
	return (has_owner && fchown(fd, mode->uid, mode->gid) < 0) || fchmod(fd, mode->mode) < 0 ? -errno : 0;
}

static int fill(int fd, const struct border_mode *mode, const void *data, size_t size) {
	int r = file_write_fd(fd, data, size);

	if (r == 0)
		r = set_mode(fd, mode);
	return r == 0 && fsync(fd) < 0 ? -errno : r; // a full filesystem may say so only now
}

// A name that nobody has. It is made and renamed, because a new file without a name cannot replace another.
static int choose_name(char ret[TEMPORARY]) {
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -EIO;
	snprintf(ret, TEMPORARY, ".sled-%016llx", (unsigned long long)number);
	return 0;
}

// Renames the new file; removes it after a failure.
static int finish(int folder, const char *temporary, const char *name, int r) {
	if (r == 0 && renameat(folder, temporary, folder, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(folder, temporary, 0);
	return r;
}

// Opens the folder of a path, after it is made.
static int open_folder_of(const struct border *border, const char *path, struct split *ret) {
	int r = split(path, ret), left = FOLDERS_MAX;
	return r < 0 ? r : make_folders(border, ret->folder, &left);
}

int border_write(const struct border *border, const char *path, const struct border_mode *mode, const void *data,
		 size_t size, struct fault *fault) {
	char temporary[TEMPORARY];
	struct split at;
	cleanup_close int folder = open_folder_of(border, path, &at), fd = -1;
	int r = folder < 0 ? folder : choose_name(temporary);

	if (r < 0)
		return border_fault(fault, r, path);
	fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return border_fault(fault, errno, path);
	r = finish(folder, temporary, at.name, fill(fd, mode, data, size));
	return r < 0 ? border_fault(fault, r, path) : 0;
}

int border_link(const struct border *border, const char *path, const char *target, struct fault *fault) {
	char temporary[TEMPORARY];
	struct split at;
	cleanup_close int folder = open_folder_of(border, path, &at);
	int r = folder < 0 ? folder : choose_name(temporary);

	if (r == 0 && symlinkat(target, folder, temporary) < 0)
		return border_fault(fault, errno, path);
	if (r == 0)
		r = finish(folder, temporary, at.name, 0);
	return r < 0 ? border_fault(fault, r, path) : 0;
}

int border_folder(const struct border *border, const char *path, const struct border_mode *mode, struct fault *fault) {
	int left = FOLDERS_MAX;
	cleanup_close int folder = make_folders(border, path, &left);
	int r = folder < 0 ? folder : set_mode(folder, mode);

	return r < 0 ? border_fault(fault, r, path) : 0;
}

int border_remove(const struct border *border, const char *path, struct fault *fault) {
	struct split at;
	int r = split(path, &at);
	cleanup_close int folder = r < 0 ? r : border_openat(border, at.folder, O_RDONLY | O_DIRECTORY);

	if (folder >= 0)
		r = unlinkat(folder, at.name, 0) < 0 ? -errno : 0;
	else
		r = folder;
	return r < 0 && r != -ENOENT && r != -ENOTDIR ? border_fault(fault, r, path) : 0;
}
