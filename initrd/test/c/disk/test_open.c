// SPDX-License-Identifier: Apache-2.0
// A node in /dev that is no longer the disk that was chosen is not opened.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "disk/device.h"
#include "disk/fd.h"
#include "tap.h"

static const struct device_ops ops = {.pread = fd_pread};

// The node belongs to `number` now; the disk that was chosen is `chosen`.
static void refused(const char *node, dev_t chosen, const char *what) {
	struct disk disk = {.name = "vda", .number = chosen, .sector = 512};
	struct device device = {.fd = -1};
	struct fault fault = {0};

	snprintf(disk.node, sizeof(disk.node), "%s", node);
	ok(device_open_node(&disk, O_RDONLY, &ops, &device, &fault) < 0 && fault.code == CODE_DISK &&
		   strstr(fault.text, " is not the disk vda") && device.fd < 0,
	   "%s: %s", what, fault.text);
}

// A block device of this machine under another name, if there is one and we may open it.
static bool block_device(char *node, size_t size, dev_t *ret) {
	static const unsigned majors[] = {1, 7, 8, 254, 253, 252, 259, 43}; // ram, loop, sd, virtio, dm, nvme, nbd

	snprintf(node, size, "%s/node", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	for (size_t i = 0; i < sizeof(majors) / sizeof(majors[0]); i++) {
		*ret = makedev(majors[i], 0);
		unlink(node);
		int fd = mknod(node, S_IFBLK | 0600, *ret) < 0 ? -1 : open(node, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			return close(fd) == 0;
	}
	return false;
}

int main(void) {
	struct disk gone = {.name = "vda", .node = "/proc/none"};
	struct device device = {.fd = -1};
	struct fault fault = {0};
	char node[64];
	dev_t number;
	struct stat st;

	ok(stat("/dev/null", &st) == 0, "there is a character device");
	refused("/dev/null", st.st_rdev, "a character device of the same number");
	refused("/proc/self/exe", 0, "a regular file");
	ok(device_open_node(&gone, O_RDONLY, &ops, &device, &fault) < 0 && fault.code == CODE_DISK, "gone: %s",
	   fault.text);
	if (block_device(node, sizeof(node), &number))
		refused(node, makedev(major(number), minor(number) + 16), "another block device");
	return tap_done();
}
