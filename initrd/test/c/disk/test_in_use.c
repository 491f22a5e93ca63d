// SPDX-License-Identifier: Apache-2.0
// A file or a disk that the device mapper holds (LVM, LUKS), in a copy of what sysfs says: the kernel of a test machine
// may have no device mapper. ../pack/test_mapper.py has real ones.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "disk/in_use.h"
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

static bool is_refused(int fd, bool writes, const char *words, struct fault *fault) {
	*fault = (struct fault){0};
	return in_use_check(root, fd, writes, fault) < 0 && fault->code == CODE_DISK && strstr(fault->text, words);
}

static void test_loops(const char *file) {
	int fd = open(file, O_RDONLY | O_CLOEXEC), writer = open(file, O_RDWR | O_CLOEXEC);
	struct fault fault = {0};

	make_tree(file);
	ok(is_refused(writer, true, "it has the loop device loop7: ", &fault), "to write: any loop device: %s",
	   fault.text);
	close(writer);
	ok(fd >= 0 && in_use_check(root, fd, false, &fault) == 0, "below a loop device that nothing uses");
	folder("/sys/block/loop7/holders/dm-0");
	ok(is_refused(fd, false, "loop7 is held by dm-0: ", &fault), "held by the device mapper: %s", fault.text);
	folder("/sys/block/loop7/holders/dm-0/dm");
	put("/sys/block/loop7/holders/dm-0/dm/name", "vg-root\n");
	ok(is_refused(fd, false, "held by dm-0 (vg-root): ", &fault), "by name: %s", fault.text);
	put("/sys/block/loop7/loop/backing_file", "/dev/null");
	ok(in_use_check(root, fd, false, &fault) == 0, "the loop device of another file");
	close(fd);
}

// A process that has the file open until it is killed.
static pid_t opener(const char *file, int flags, bool only_maps) {
	int ready[2], fd;
	char byte = 0;
	pid_t pid;

	if (pipe(ready) < 0 || (pid = fork()) < 0)
		abort();
	if (pid == 0) {
		fd = open(file, flags | O_CLOEXEC);
		if (only_maps && mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED)
			_exit(1);
		if (only_maps)
			close(fd);
		if (write(ready[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	if (read(ready[0], &byte, 1) != 1)
		abort();
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end(pid_t pid) {
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_processes(const char *file) {
	struct fault fault = {0};
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	pid_t pid = opener(file, O_RDWR, false);
	char words[64];

	snprintf(words, sizeof(words), "(process %d) has it open for writing", (int)pid);
	ok(is_refused(fd, false, words, &fault), "a writer: %s", fault.text);
	end(pid);
	pid = opener(file, O_RDWR, true);
	ok(is_refused(fd, false, "another program has it open for writing", &fault), "mapped memory: %s", fault.text);
	end(pid);
	pid = opener(file, O_RDONLY, false);
	ok(in_use_check(root, fd, false, &fault) == 0, "two may read");
	close(fd);
	fd = open(file, O_RDWR | O_CLOEXEC);
	ok(is_refused(fd, true, "has it open: end that program", &fault), "what others read is not written: %s",
	   fault.text);
	end(pid);
	ok(in_use_check(root, fd, true, &fault) == 0, "nobody uses it");
	close(fd);
}

int main(void) {
	const char *base = getenv("TMPDIR");
	char file[512];

	snprintf(root, sizeof(root), "%s/in_use-XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(root))
		abort();
	snprintf(file, sizeof(file), "%s/disk", root);
	close(open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0644));
	if (truncate(file, 4096) < 0)
		abort();
	test_loops(file);
	test_processes(file);
	test_devices();
	return tap_done();
}
