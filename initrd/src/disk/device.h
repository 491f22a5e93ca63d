// SPDX-License-Identifier: Apache-2.0
// An open disk that may be written, and its operations: the seam between the code that changes disks and the kernel.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "disk/disk.h"

#define BLOCK (1u << 20) // 1 MiB: unit of transfer; buffers for it are page-aligned, for O_DIRECT
#define BLOCK_ALIGN 4096u
#define PATHS_MAX 16u // of one disk, beside the one in use
#define GRAIN 4096u   // what is read or written alone where a whole BLOCK fails, unless a sector is larger

struct device;

// Each returns 0 or more, or -errno. pread and pwrite may be short. Offsets and sizes are multiples of the sector.
struct device_ops {
	ssize_t (*pread)(struct device *, void *, size_t, uint64_t offset);
	ssize_t (*pwrite)(struct device *, const void *, size_t, uint64_t offset);
	int (*discard)(struct device *, uint64_t offset, uint64_t size); // -EOPNOTSUPP if the disk cannot
	int (*zero)(struct device *, uint64_t offset, uint64_t size);	 // -EOPNOTSUPP likewise
	int (*sync)(struct device *);
	int (*reread)(struct device *); // the kernel reads the partition table again
};

struct device {
	const struct device_ops *ops;
	int fd;
	int paths[PATHS_MAX]; // the other paths of the disk, held so that nobody else uses them
	size_t path_count;
	char name[96];	   // of the disk; of one partition "sda, partition 2"
	uint64_t start;	   // of the device within the disk: not 0 for a partition
	bool is_partition; // of `start` and `bytes`
	uint64_t bytes;
	uint32_t sector;
	size_t partition_count; // as the kernel knew them when it was opened
	struct partition partitions[PARTITIONS_MAX];
	void *context; // of ops, in tests
};

// Opens, exclusively, the one disk that `selector` matches and `keep` does not. If that is refused, every disk is added
// to `list` with the reason, for the verb to print.
int device_open(const char *selector, const char *keep, struct device *ret, struct text *list, struct fault *fault);

// The same to write all of it: a disk that shares a set with another one is refused.
int device_open_whole(const char *selector, const char *keep, struct device *ret, struct text *list,
		      struct fault *fault);
int device_open_disk(const struct disks *disks, const struct disk *disk, struct device *ret, struct fault *fault);

// Opens the node in /dev, which must still be the disk that was chosen. `flags`: those of open(2). Every disk is opened
// by this function.
int device_open_node(const struct disk *disk, int flags, const struct device_ops *ops, struct device *ret,
		     struct fault *fault);

// Makes an open disk, or a file of one, the device of the partition that `text` means (disk/partition_choose.h). With
// `alone`, one that shares a set with another disk is refused (code 4).
int device_take_partition(struct device *device, const char *text, bool alone, struct fault *fault);

// Opens or creates a regular file of at least `bytes` in place of a disk; 0: one to take a partition of. Returns an
// error of code 4 for anything but a regular file.
int device_open_file(const char *path, uint64_t bytes, uint32_t sector, struct device *ret, struct fault *fault);
void device_close(struct device *device);

// All of it, through EINTR and short transfers. The fault names the offset.
int device_read(struct device *device, void *data, size_t size, uint64_t offset, struct fault *fault);
int device_write(struct device *device, const void *data, size_t size, uint64_t offset, struct fault *fault);

// Zeroes a range: by a command of the disk if it has one, else by writing.
int device_zero(struct device *device, uint64_t offset, uint64_t size, struct fault *fault);

// Returns whether an error means that the device does not exist any more: each further request would wait for a
// timeout.
bool device_is_gone(int error);

int device_sync(struct device *device, struct fault *fault);

// Makes the device one of its partitions: all offsets count from its start, and no operation reaches a byte outside.
void device_narrow(struct device *device, const struct partition *partition, unsigned number);

// Where these bytes of the device are on the disk. The operations of a descriptor find every place with it. Returns
// -ERANGE, for bytes that are not all on the device.
int device_place(const struct device *device, uint64_t offset, uint64_t size, uint64_t *ret);

// Best effort: if the kernel cannot read the partition table now, it does so at the next start.
void device_reread(struct device *device);

// Returns `size` bytes, aligned for O_DIRECT, zeroed; NULL if memory is short.
void *device_buffer(size_t size);
