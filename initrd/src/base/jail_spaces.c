// SPDX-License-Identifier: Apache-2.0
// A root folder in memory with nothing but the given places, each at the path where the program expects it.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/jail_cell.h"

#define ROOT "/sys"	      // the folder in memory covers it, for this process alone: no program is there
#define FILES "/proc/self/fd" // of this process, which stays the same when it executes the program
#define SPACES (CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWPID)

static int put_text(const char *path, const char *text) {
	cleanup_close int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

// As root without a user namespace: in it, files of others could not be read.
static int leave(const struct cell *cell, int spaces) {
	int r;

	if (unshare(spaces) == 0)
		return 0;
	if (unshare(spaces | CLONE_NEWUSER) < 0)
		return -errno;
	r = put_text("/proc/self/uid_map", cell->user_map);
	if (r == 0)
		r = put_text("/proc/self/setgroups", "deny");
	return r == 0 ? put_text("/proc/self/gid_map", cell->group_map) : r;
}

// All folders above the last slash.
static void make_folders(char *path) {
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		(void)mkdir(path, 0755);
		*slash = '/';
	}
}

static int make_target(const struct place *place, char *path) {
	cleanup_close int fd = -1;

	make_folders(path);
	if (place->is_folder)
		return mkdir(path, 0755) < 0 && errno != EEXIST ? -errno : 0;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	return fd < 0 ? -errno : 0;
}

// Another user than root may not take away the restrictions that the mount has already.
static int protect(const char *path) {
	unsigned long flags = MS_BIND | MS_REMOUNT | MS_RDONLY;
	struct statvfs st;

	if (statvfs(path, &st) < 0)
		return -errno;
	flags |= (st.f_flag & ST_NOSUID ? MS_NOSUID : 0) | (st.f_flag & ST_NODEV ? MS_NODEV : 0) |
		 (st.f_flag & ST_NOEXEC ? MS_NOEXEC : 0) | (st.f_flag & ST_NOATIME ? MS_NOATIME : 0) |
		 (st.f_flag & ST_NODIRATIME ? MS_NODIRATIME : 0) | (st.f_flag & ST_RELATIME ? MS_RELATIME : 0);
	return mount(NULL, path, NULL, flags, NULL) < 0 ? -errno : 0;
}

// By its path: the descriptor is of the namespace that was left.
static int bind_place(const struct place *place) {
	char to[sizeof(ROOT) + sizeof(place->target)];
	int r;

	snprintf(to, sizeof(to), ROOT "%s", place->target);
	r = make_target(place, to);
	if (r == 0 && mount(place->target, to, NULL, MS_BIND, NULL) < 0)
		r = -errno;
	return r == 0 && !place->may_write ? protect(to) : r;
}

// The given files are found as descriptors, so they need no path here.
static bool is_descriptor(const struct place *place) { return !strncmp(place->target, FILES, sizeof(FILES) - 1); }

int cell_leave(const struct cell *cell) {
	int r = cell_has_namespaces() ? leave(cell, cell->ruleset < 0 ? SPACES : CLONE_NEWPID) : -EOPNOTSUPP;

	if (cell->ruleset < 0)
		return r < 0 ? r : 1;
	return r == 0;
}

// Nothing else stays mounted here while the program runs: whoever unmounts it outside has it unmounted. pivot_root(2),
// "NOTES": of two "." the old root covers the new one.
static int enter_root(void) {
	if (chdir(ROOT) < 0)
		return -errno;
	if (syscall(SYS_pivot_root, ".", ".") == 0)
		return umount2(".", MNT_DETACH) < 0 || chdir("/") < 0 ? -errno : 0;
	if (errno != EINVAL) // the root of an initramfs, which cannot be left
		return -errno;
	return chroot(".") < 0 || chdir("/") < 0 ? -errno : 0;
}

int cell_enter_namespaces(const struct cell *cell) {
	int r = 0;

	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		r = -errno;
	if (r == 0 && mount("jail", ROOT, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755") < 0)
		r = -errno;
	for (size_t i = 0; r == 0 && i < cell->count; i++)
		r = is_descriptor(&cell->places[i]) ? 0 : bind_place(&cell->places[i]);
	if (r == 0)
		r = bind_place(&(struct place){.target = FILES, .is_folder = true});
	return r == 0 ? enter_root() : r;
}
