// SPDX-License-Identifier: Apache-2.0
#include "disk/filesystem.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "disk/disk.h"

#define SIGNATURES_MAX 32u // that one partition may have

static void free_probe(blkid_probe *probe) { blkid_free_probe(*probe); }

// libblkid finds nothing in what has no bytes, and does not try to read it.
static int check_readable(int fd, const char *path, struct fault *fault) {
	uint8_t start[SECTOR];
	ssize_t n = pread(fd, start, sizeof(start), 0);

	if (n < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s: reading signatures", path);
	if ((size_t)n < sizeof(start))
		return fault_set(fault, CODE_FAILED, "%s has %zd bytes, less than a sector", path, n);
	return 0;
}

static int open_device(const char *path, struct fault *fault) {
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", path);
	if (!S_ISBLK(st.st_mode) && !S_ISREG(st.st_mode))
		return fault_set(fault, CODE_USAGE, "%s is neither a block device nor a regular file", path);
	r = check_readable(fd, path, fault);
	return r < 0 ? r : steal_fd(&fd);
}

static bool has_value(blkid_probe probe, const char *key, const char *wanted) {
	const char *value = NULL;
	return !wanted || (blkid_probe_lookup_value(probe, key, &value, NULL) == 0 && !strcmp(value, wanted));
}

// Whether it is the partition of that name, in the table of the disk that the kernel has for it. A file is none.
static int is_partition(int fd, const char *path, const struct filesystem_name *name, struct fault *fault) {
	cleanup_with(free_probe) blkid_probe probe = blkid_new_probe();

	if (!name->partuuid && !name->partlabel)
		return 1;
	if (!probe || blkid_probe_set_device(probe, fd, 0, 0) != 0)
		return fault_errno(fault, CODE_FAILED, probe ? EIO : ENOMEM, "%s: partition", path);
	blkid_probe_enable_superblocks(probe, 0);
	blkid_probe_enable_partitions(probe, 1);
	blkid_probe_set_partitions_flags(probe, BLKID_PARTS_ENTRY_DETAILS);
	if (blkid_do_safeprobe(probe) == -1)
		return fault_set(fault, CODE_FAILED, "%s: reading the partition table of its disk failed", path);
	return has_value(probe, "PART_ENTRY_UUID", name->partuuid) &&
	       has_value(probe, "PART_ENTRY_NAME", name->partlabel);
}

// Returns 0 as long as there may be one more signature, 1 after the last, or a negative errno.
static int add_next(blkid_probe probe, const char *path, const struct filesystem_name *name, struct text *ret,
		    struct fault *fault) {
	const char *type = "", *usage = "";
	int r = blkid_do_probe(probe);

	if (r < 0)
		return fault_set(fault, CODE_FAILED, "%s: reading signatures failed", path);
	if (r > 0)
		return 1;
	(void)blkid_probe_lookup_value(probe, "TYPE", &type, NULL);
	(void)blkid_probe_lookup_value(probe, "USAGE", &usage, NULL);
	if (!strcmp(usage, "filesystem") && has_value(probe, "UUID", name->uuid) &&
	    has_value(probe, "LABEL", name->label))
		text_addf(ret, "%s\n", type);
	return 0;
}

int filesystem_read(const char *path, const struct filesystem_name *name, struct text *ret, struct fault *fault) {
	cleanup_with(free_probe) blkid_probe probe = blkid_new_probe();
	cleanup_close int fd = open_device(path, fault);
	int r;

	if (fd < 0)
		return fd;
	r = is_partition(fd, path, name, fault);
	if (r <= 0)
		return r;
	r = 0;
	if (!probe || blkid_probe_set_device(probe, fd, 0, 0) != 0)
		return fault_errno(fault, CODE_FAILED, probe ? EIO : ENOMEM, "%s: signatures", path);
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE | BLKID_SUBLKS_UUID |
							 BLKID_SUBLKS_LABEL);
	for (unsigned i = 0; r == 0 && i < SIGNATURES_MAX; i++)
		r = add_next(probe, path, name, ret, fault);
	if (r >= 0 && ret->failed)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "%s: signatures", path);
	return r < 0 ? r : 0;
}
