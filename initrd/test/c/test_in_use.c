// SPDX-License-Identifier: Apache-2.0
// A file below a loop device that the device mapper holds (LVM, LUKS), in a copy of what sysfs says: the kernel of a
// test machine may have no device mapper.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
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
	static const char *const folders[] = {"/proc", "/proc/self", "/sys", "/sys/block", "/sys/block/loop7",
		"/sys/block/loop7/loop", "/sys/block/loop7/holders", "/sys/block/loop7/queue"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		folder(folders[i]);
	put("/proc/self/mountinfo", "");
	put("/sys/block/loop7/dev", "7:7\n");
	put("/sys/block/loop7/size", "2048\n");
	put("/sys/block/loop7/queue/logical_block_size", "512\n");
	put("/sys/block/loop7/loop/backing_file", backing);
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
		strstr(fault.text, "loop7 is held by dm-0: "), "held by the device mapper: %s", fault.text);
	folder("/sys/block/loop7/holders/dm-0/dm");
	put("/sys/block/loop7/holders/dm-0/dm/name", "vg-root\n");
	ok(in_use_check(root, fd, &fault) < 0 && strstr(fault.text, "held by dm-0 (vg-root): "), "by name: %s",
		fault.text);
	put("/sys/block/loop7/loop/backing_file", "/dev/null");
	ok(in_use_check(root, fd, &fault) == 0, "the loop device of another file");
	close(fd);
	return tap_done();
}
