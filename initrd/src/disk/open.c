// SPDX-License-Identifier: Apache-2.0
// Opens the disk that a plan selects, with operations of the kernel.
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "disk/choose.h"
#include "disk/contents.h"
#include "disk/device.h"
#include "disk/fd.h"
#include "disk/in_use.h"
#include "disk/partition_choose.h"
#include "disk/scan.h"
#include "disk/seam.h"
#include "disk/transport.h"

static int block_range(struct device *device, unsigned long request, uint64_t offset, uint64_t size) {
	uint64_t range[2] = {0, size};
	int r = device_place(device, offset, size, &range[0]);

	if (r == 0 && ioctl(device->fd, request, range) < 0)
		r = -errno;
	return r;
}

static int block_discard(struct device *device, uint64_t offset, uint64_t size) {
	return block_range(device, BLKDISCARD, offset, size);
}

static int block_zero(struct device *device, uint64_t offset, uint64_t size) {
	return block_range(device, BLKZEROOUT, offset, size);
}

static int block_reread(struct device *device) { return ioctl(device->fd, BLKRRPART) < 0 ? -errno : 0; }

static const struct device_ops block_ops = {fd_pread, fd_pwrite, block_discard, block_zero, fd_sync, block_reread};

int device_open_node(const struct disk *disk, int flags, const struct device_ops *ops, struct device *ret,
		     struct fault *fault) {
	cleanup_close int fd = -1;
	uint64_t bytes;
	struct stat st;

	if (seam_open_node(disk, ret))
		return 0;
	fd = open(disk->node, flags | O_CLOEXEC);
	if (fd < 0 && errno == EBUSY)
		return fault_set(fault, CODE_DISK, "%s is in use", disk->name);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_errno(fault, CODE_DISK, errno, "%s", disk->node);
	if (!S_ISBLK(st.st_mode) || st.st_rdev != disk->number)
		return fault_set(fault, CODE_DISK, "%s is not the disk %s", disk->node, disk->name);
	if (in_use_check_machine(fd, fault) < 0)
		return fault_prefix(fault, -EBUSY, "%s: ", disk->name);
	if (ioctl(fd, BLKGETSIZE64, &bytes) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s: size", disk->node);
	*ret = (struct device){.ops = ops, .fd = steal_fd(&fd), .bytes = bytes, .sector = disk->sector};
	memcpy(ret->name, disk->name, sizeof(disk->name));
	ret->partition_count = disk->partition_count;
	memcpy(ret->partitions, disk->partitions, sizeof(ret->partitions));
	return 0;
}

static int hold_paths(const struct disks *disks, const struct disk *disk, struct device *device, struct fault *fault) {
	for (size_t i = 0; i < disks->count; i++) {
		struct device path = {.fd = -1};
		if (!transport_same_disk(disk, &disks->items[i]))
			continue;
		if (device->path_count == PATHS_MAX)
			return fault_set(fault, CODE_DISK, "%s has more than %u other paths", disk->name, PATHS_MAX);
		if (device_open_node(&disks->items[i], O_RDONLY | O_EXCL, &block_ops, &path, fault) < 0)
			return fault_prefix(fault, -EBUSY, "%s, another path: ", disk->name);
		device->paths[device->path_count++] = path.fd;
	}
	return 0;
}

// Exclusive: fails if the disk is in use, also by another of its paths.
int device_open_disk(const struct disks *disks, const struct disk *disk, struct device *ret, struct fault *fault) {
	int r = device_open_node(disk, O_RDWR | O_EXCL | O_DIRECT, &block_ops, ret, fault);

	if (r == 0 && (r = hold_paths(disks, disk, ret, fault)) < 0)
		device_close(ret);
	return r;
}

static int open_chosen(const char *selector, const char *keep, bool whole, struct device *ret, struct text *list,
		       struct fault *fault) {
	cleanup_with(disks_free) struct disks disks = {0};
	const struct disk *disk = NULL;
	struct fault ignored;
	int r;

	if (seam_open(ret))
		return 0;
	r = scan_disks(seam_root(), &disks, fault);
	if (r == 0)
		r = contents_read(seam_root(), &disks, fault);
	if (r == 0)
		r = choose_disk(&disks, selector, keep, &disk, fault);
	if (r == 0 && whole)
		r = choose_whole(&disks, &disk, 1, fault);
	if (r == 0)
		r = device_open_disk(&disks, disk, ret, fault);
	if (r < 0)
		(void)choose_list(&disks, selector, keep, list, &ignored);
	return r;
}

int device_open(const char *selector, const char *keep, struct device *ret, struct text *list, struct fault *fault) {
	return open_chosen(selector, keep, false, ret, list, fault);
}

int device_open_whole(const char *selector, const char *keep, struct device *ret, struct text *list,
		      struct fault *fault) {
	return open_chosen(selector, keep, true, ret, list, fault);
}

static struct disk *find_own(const struct disks *disks, const struct device *device) {
	for (size_t i = 0; i < disks->count; i++)
		if (!strcmp(disks->items[i].name, device->name))
			return &disks->items[i];
	return NULL;
}

// As if the partition were all that the disk has.
static int check_alone(const struct device *device, const struct chosen_partition *chosen, struct fault *fault) {
	cleanup_with(disks_free) struct disks disks = {0};
	const struct disk *taken;
	struct disk *own;
	int r = scan_disks(seam_root(), &disks, fault);

	if (r == 0)
		r = contents_read(seam_root(), &disks, fault);
	if (r < 0)
		return r;
	if (!(own = find_own(&disks, device)))
		return fault_set(fault, CODE_DISK, "%s is gone", device->name);
	memcpy(own->sets, chosen->sets, sizeof(own->sets));
	taken = own;
	return choose_whole(&disks, &taken, 1, fault);
}

int device_take_partition(struct device *device, const char *text, bool alone, struct fault *fault) {
	struct chosen_partition chosen;
	int r = partition_choose(device->fd, device->name, device->sector, text, &chosen, fault);

	if (r == 0 && alone && chosen.sets[0] && seam_count() == 0)
		r = check_alone(device, &chosen, fault);
	if (r == 0)
		device_narrow(device, &chosen.place, chosen.number);
	return r;
}
