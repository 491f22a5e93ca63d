// SPDX-License-Identifier: Apache-2.0
#include "disk/in_use.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "disk/openers.h"
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

// EBUSY also for what is mounted where this process cannot see it.
static bool is_claimed(const struct disk *disk) {
	cleanup_close int fd = open(disk->node, O_RDONLY | O_EXCL | O_NONBLOCK | O_CLOEXEC);
	return disk->in_use[0] || (fd < 0 && errno == EBUSY);
}

// What the checks of one file share.
struct check {
	const char *root;
	int fd;
	struct stat st;
	bool writes;   // this process will write to it
	dev_t own;     // a loop device over it that this process has open exclusively
	bool has_loop; // another one is over it
};

// A reader bears a loop device that nobody uses.
static int check_loops(struct check *check, struct fault *fault) {
	cleanup_with(disks_free) struct disks disks = {0};
	char path[PATH_MAX];
	int r = scan_disks(check->root, &disks, fault);

	for (size_t i = 0; r == 0 && i < disks.count; i++) {
		const struct disk *disk = &disks.items[i];
		if (strncmp(disk->name, "loop", 4) || disk->bytes == 0 || disk->number == check->own)
			continue;
		sysfs_text(path, sizeof(path), "%s/sys/block/%s/loop/backing_file", check->root, disk->name);
		if (!is_same_file(path, &check->st))
			continue;
		check->has_loop = true;
		if (is_claimed(disk))
			return fault_set(fault, CODE_DISK,
					 "it is in use: its loop device %s is %s: unmount or deactivate it first",
					 disk->name, disk->in_use[0] ? disk->in_use : "mounted or held elsewhere");
		if (check->writes)
			return fault_set(fault, CODE_DISK,
					 "it is in use: it has the loop device %s: detach it first (losetup -d)",
					 disk->name);
	}
	return r;
}

static int check_openers(const struct check *check, struct fault *fault) {
	int r = openers_ask(check->fd, check->writes);
	char holder[128] = "another program";

	if (r == 0)
		return 0;
	if (!openers_find(&check->st, check->writes, holder, sizeof(holder)) && (r != -EAGAIN || check->has_loop))
		return 0;
	return fault_set(fault, CODE_DISK, "it is in use: %s has it open%s: end that program first", holder,
			 check->writes ? "" : " for writing");
}

int in_use_check_machine(int fd, struct fault *fault) {
	char holder[128] = "another program";
	struct stat st;

	if (!is_locked(fd, QEMU_WRITES) && !is_locked(fd, QEMU_RESIZES))
		return 0;
	if (fstat(fd, &st) == 0)
		(void)openers_find(&st, false, holder, sizeof(holder));
	return fault_set(fault, CODE_DISK,
			 "it is in use: %s has it open for writing: shut the virtual machine down first", holder);
}

static int check_file(struct check *check, struct fault *fault) {
	int r = fstat(check->fd, &check->st) < 0 ? fault_errno(fault, CODE_FAILED, errno, "stat")
						 : in_use_check_machine(check->fd, fault);

	if (r == 0 && S_ISREG(check->st.st_mode)) {
		r = check_loops(check, fault);
		if (r == 0 && !check->own)
			r = check_openers(check, fault);
	}
	return r;
}

// A file of which this process cannot know who uses it (it was removed, or belongs to another namespace) is no fault.
static int check_backing_file(const char *root, dev_t number, struct fault *fault) {
	cleanup_close int fd = -1;
	char path[PATH_MAX];

	sysfs_text(path, sizeof(path), "%s/sys/dev/block/%u:%u/loop/backing_file", root, major(number), minor(number));
	fd = path[0] ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
	return fd < 0 ? 0 : check_file(&(struct check){.root = root, .fd = fd, .own = number}, fault);
}

int in_use_check(const char *root, int fd, bool writes, struct fault *fault) {
	struct check check = {.root = root, .fd = fd, .writes = writes};
	int r = check_file(&check, fault);

	return r == 0 && S_ISBLK(check.st.st_mode) ? check_backing_file(root, check.st.st_rdev, fault) : r;
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
