// SPDX-License-Identifier: Apache-2.0
#include "import/in_use.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "disk/scan.h"
#include "disk/sysfs.h"
#include "disk/usage.h"

// QEMU locks a byte of the file for each thing that it does with it (block/file-posix.c there).
#define QEMU_WRITES 101
#define QEMU_RESIZES 103

static bool is_locked(int fd, off_t byte) {
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static bool is_file(const char *path, const struct stat *file) {
	struct stat st;
	return stat(path, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

static bool holds_lock(const char *pid, const char *fd) {
	cleanup_free char *text = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.20s/fdinfo/%.20s", pid, fd);
	return file_read(path, 65536, &text, NULL) == 0 && strstr(text, "lock:");
}

// Whether that process has the file open and holds a lock on it. Without root, only those of the same user are known.
static bool has_locked(const char *pid, const struct stat *file) {
	cleanup_dir DIR *dir = NULL;
	struct dirent *entry;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%.20s/fd/%.20s", pid, entry->d_name);
		if (entry->d_name[0] != '.' && is_file(path, file) && holds_lock(pid, entry->d_name))
			return true;
	}
	return false;
}

// The process that has the file locked, for people.
static void find_process(const struct stat *file, char *ret, size_t size) {
	cleanup_dir DIR *dir = opendir("/proc");
	struct dirent *entry;
	char own[32], name[64];

	snprintf(own, sizeof(own), "%d", (int)getpid());
	snprintf(ret, size, "another program");
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || !strcmp(entry->d_name, own) ||
		    !has_locked(entry->d_name, file))
			continue;
		sysfs_text(name, sizeof(name), "/proc/%.20s/comm", entry->d_name);
		snprintf(ret, size, "%s (process %.20s)", name, entry->d_name);
		return;
	}
}

// EBUSY also for what is mounted where this process cannot see it.
static bool is_claimed(const struct disk *disk) {
	cleanup_close int fd = open(disk->node, O_RDONLY | O_EXCL | O_NONBLOCK | O_CLOEXEC);
	return disk->in_use[0] || (fd < 0 && errno == EBUSY);
}

// `own`: a loop device that is open exclusively already.
static int check_loops(const char *root, const struct stat *file, dev_t own, struct fault *fault) {
	cleanup_with(disks_free) struct disks disks = {0};
	char path[PATH_MAX];
	int r = scan_disks(root, &disks, fault);

	for (size_t i = 0; r == 0 && i < disks.count; i++) {
		const struct disk *disk = &disks.items[i];
		if (strncmp(disk->name, "loop", 4) || disk->bytes == 0 || disk->number == own)
			continue;
		sysfs_text(path, sizeof(path), "%s/sys/block/%s/loop/backing_file", root, disk->name);
		if (is_file(path, file) && is_claimed(disk))
			return fault_set(fault, CODE_DISK,
					 "it is in use: its loop device %s is %s: unmount or deactivate it first",
					 disk->name, disk->in_use[0] ? disk->in_use : "mounted or held elsewhere");
	}
	return r;
}

static int check_machine(int fd, const struct stat *st, struct fault *fault) {
	char holder[128];

	if (!is_locked(fd, QEMU_WRITES) && !is_locked(fd, QEMU_RESIZES))
		return 0;
	find_process(st, holder, sizeof(holder));
	return fault_set(fault, CODE_DISK,
			 "it is in use: %s has it open for writing: shut the virtual machine down first", holder);
}

static int check_file(const char *root, int fd, dev_t own, struct fault *fault) {
	struct stat st;
	int r = fstat(fd, &st) < 0 ? fault_errno(fault, CODE_FAILED, errno, "stat") : 0;

	if (r == 0)
		r = check_machine(fd, &st, fault);
	return r == 0 && S_ISREG(st.st_mode) ? check_loops(root, &st, own, fault) : r;
}

// A file of which this process cannot know who uses it (it was removed, or belongs to another namespace) is no fault.
static int check_backing_file(const char *root, dev_t number, struct fault *fault) {
	cleanup_close int fd = -1;
	char path[PATH_MAX];

	sysfs_text(path, sizeof(path), "%s/sys/dev/block/%u:%u/loop/backing_file", root, major(number), minor(number));
	fd = path[0] ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
	return fd < 0 ? 0 : check_file(root, fd, number, fault);
}

int in_use_check(const char *root, int fd, struct fault *fault) {
	struct stat st;
	int r = fstat(fd, &st) < 0 ? fault_errno(fault, CODE_FAILED, errno, "stat") : check_file(root, fd, 0, fault);

	return r == 0 && S_ISBLK(st.st_mode) ? check_backing_file(root, st.st_rdev, fault) : r;
}

int in_use_report(const char *root, dev_t number, struct fault *fault) {
	cleanup_with(disks_free) struct disks disks = {0};
	const struct disk *disk = NULL;
	char text[32];

	snprintf(text, sizeof(text), "%u:%u", major(number), minor(number));
	if (scan_disks(root, &disks, fault) == 0)
		disk = usage_disk(root, &disks, text);
	if (!disk || !disk->in_use[0])
		return fault_set(fault, CODE_DISK,
				 "it is in use: mounted or held elsewhere: unmount or deactivate it "
				 "first");
	return fault_set(fault, CODE_DISK, "it is in use: %s is %s: unmount or deactivate it first", disk->name,
			 disk->in_use);
}
