// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/border.h"
#include "base/border_open.h"
#include "base/cleanup.h"

// A shell, and a list of mounts that are ended in turn, have it as one word.
static bool is_one_word(const char *path) {
	for (; *path; path++)
		if (*path <= ' ' || *path == 0x7f || strchr("*?[\\", *path))
			return false;
	return true;
}

// The path of the mount point without links: to unmount it, nothing follows one.
static int path_of(const struct border *border, int point, char ret[PATH_MAX]) {
	char link[32], root[PATH_MAX];
	struct stat top, here;
	ssize_t n;

	if (fstat(border->fd, &top) < 0 || fstat(point, &here) < 0)
		return -errno;
	if (top.st_dev == here.st_dev && top.st_ino == here.st_ino)
		return -EEXIST; // the root itself
	snprintf(link, sizeof(link), "/proc/self/fd/%d", border->fd);
	n = readlink(link, root, sizeof(root) - 1);
	if (n < 0)
		return -errno;
	root[n] = 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", point);
	n = readlink(link, ret, PATH_MAX - 1);
	if (n < 0)
		return -errno;
	ret[n] = 0;
	return strncmp(ret, root, strlen(root)) || ret[strlen(root)] != '/' || !is_one_word(ret) ? -EPERM : 0;
}

// Puts a mount, by its descriptor, onto a folder of the tree, which is made if it is missing: so does systemd.
static int place(const struct border *border, int mount, const char *path, char ret[PATH_MAX], struct fault *fault) {
	const struct border_mode mode = {0755, (uid_t)-1, (gid_t)-1};
	cleanup_close int point = border_openat(border, path, O_PATH | O_DIRECTORY);
	int r = 0;

	if (point == -ENOENT) {
		r = border_folder(border, path, &mode, fault);
		if (r < 0)
			return r;
		point = border_openat(border, path, O_PATH | O_DIRECTORY);
	}
	r = point < 0 ? point : path_of(border, point, ret);
	if (r == 0 &&
	    syscall(SYS_move_mount, mount, "", point, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "mounting at %s of the installed system", path);
	return r < 0 ? border_fault(fault, r, path) : 0;
}

int border_attach(const struct border *border, const char *folder, const char *path, char ret[PATH_MAX],
		  struct fault *fault) {
	cleanup_close int mount = (int)syscall(SYS_open_tree, AT_FDCWD, folder, OPEN_TREE_CLOEXEC);

	if (mount < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", folder);
	return place(border, mount, path, ret, fault);
}

int border_bind(const struct border *border, const char *source, const char *path, char ret[PATH_MAX],
		struct fault *fault) {
	cleanup_close int folder = border_openat(border, source, O_PATH | O_DIRECTORY), mount = -1;

	if (folder < 0)
		return border_fault(fault, folder, source);
	mount = (int)syscall(SYS_open_tree, folder, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (mount < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s of the installed system", source);
	return place(border, mount, path, ret, fault);
}
