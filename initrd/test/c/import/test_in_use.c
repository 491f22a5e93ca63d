// SPDX-License-Identifier: Apache-2.0
// A file or a disk that the device mapper holds (LVM, LUKS), in a copy of what sysfs says: the kernel of a test machine
// may have no device mapper. ../pack/test_mapper.py has real ones.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "import/in_use.h"
#include "tap.h"

static char root[256];

static void folder(const char *path) {
	char full[512];
	snprintf(full, sizeof(full), "%s%s", root, path);
	if (mkdir(full, 0755) < 0)
		abort();
}

static void put(const char *path, const char *text) {
	char full[512];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	if (!(file = fopen(full, "we")) || fputs(text, file) < 0 || fclose(file))
		abort();
}

static void make_tree(const char *backing) {
	static const char *const folders[] = {"/proc",
					      "/proc/self",
					      "/sys",
					      "/sys/block",
					      "/sys/block/loop7",
					      "/sys/block/loop7/loop",
					      "/sys/block/loop7/holders",
					      "/sys/block/loop7/queue"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		folder(folders[i]);
	put("/proc/self/mountinfo", "");
	put("/sys/block/loop7/dev", "7:7\n");
	put("/sys/block/loop7/size", "2048\n");
	put("/sys/block/loop7/queue/logical_block_size", "512\n");
	put("/sys/block/loop7/loop/backing_file", backing);
}

static void link_to(const char *path, const char *target) {
	char full[512];
	snprintf(full, sizeof(full), "%s%s", root, path);
	if (symlink(target, full) < 0)
		abort();
}

static void remove_folder(const char *path) {
	char full[512];
	snprintf(full, sizeof(full), "%s%s", root, path);
	if (rmdir(full) < 0)
		abort();
}

static const char *report(unsigned minor_number, struct fault *fault) {
	*fault = (struct fault){0};
	return in_use_report(root, makedev(8, minor_number), fault) < 0 && fault->code == CODE_DISK ? fault->text : "";
}

// A disk whose first partition is a physical volume, as the only argument of pack or as one of its partitions.
static void test_devices(void) {
	static const char *const folders[] = {"/sys/dev",
					      "/sys/dev/block",
					      "/sys/block/sda",
					      "/sys/block/sda/sda1",
					      "/sys/block/sda/holders",
					      "/sys/block/sda/sda1/holders"};
	struct fault fault;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		folder(folders[i]);
	put("/sys/block/sda/dev", "8:0\n");
	put("/sys/block/sda/size", "2048\n");
	link_to("/sys/dev/block/8:0", "../../block/sda");
	link_to("/sys/dev/block/8:1", "../../block/sda/sda1");
	same(report(0, &fault), "it is in use: mounted or held elsewhere: unmount or deactivate it first",
	     "by nobody that is known");
	folder("/sys/block/sda/sda1/holders/dm-1");
	folder("/sys/block/sda/sda1/holders/dm-1/dm");
	put("/sys/block/sda/sda1/holders/dm-1/dm/name", "vg-root\n");
	same(report(0, &fault), "it is in use: sda is held by dm-1 (vg-root): unmount or deactivate it first",
	     "a disk");
	same(report(1, &fault), "it is in use: sda is held by dm-1 (vg-root): unmount or deactivate it first",
	     "a partition");
	put("/proc/self/mountinfo", "22 1 8:1 / /srv rw - ext4 /dev/sda1 rw\n");
	same(report(0, &fault), "it is in use: sda is mounted at /srv: unmount or deactivate it first", "mounted");
	ok(strstr(report(9, &fault), "elsewhere"), "a disk that is gone");
	put("/proc/self/mountinfo", "");
	put("/sys/block/sda/sda1/holders/dm-1/dm/name", "");
	remove_folder("/sys/block/sda/holders");
	put("/sys/block/sda/holders", "");
	ok(strstr(report(1, &fault), "sda is of unknown use: ") && strstr(fault.text, "/sda/holders: Not a directory"),
	   "holders that cannot be read: %s", fault.text);
}

int main(void) {
	const char *base = getenv("TMPDIR");
	char file[512];
	struct fault fault = {0};
	int fd;

	snprintf(root, sizeof(root), "%s/in_use-XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(root))
		abort();
	snprintf(file, sizeof(file), "%s/disk", root);
	fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	make_tree(file);
	ok(fd >= 0 && in_use_check(root, fd, &fault) == 0, "below a loop device that nothing uses");
	folder("/sys/block/loop7/holders/dm-0");
	ok(in_use_check(root, fd, &fault) < 0 && fault.code == CODE_DISK &&
		   strstr(fault.text, "loop7 is held by dm-0: "),
	   "held by the device mapper: %s", fault.text);
	folder("/sys/block/loop7/holders/dm-0/dm");
	put("/sys/block/loop7/holders/dm-0/dm/name", "vg-root\n");
	ok(in_use_check(root, fd, &fault) < 0 && strstr(fault.text, "held by dm-0 (vg-root): "), "by name: %s",
	   fault.text);
	put("/sys/block/loop7/loop/backing_file", "/dev/null");
	ok(in_use_check(root, fd, &fault) == 0, "the loop device of another file");
	close(fd);
	test_devices();
	return tap_done();
}
