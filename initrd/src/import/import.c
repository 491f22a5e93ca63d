// SPDX-License-Identifier: Apache-2.0
#include "import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "disk/in_use.h"
#include "import/clonezilla.h"
#include "import/compressed.h"
#include "import/fog.h"
#include "import/foreign.h"
#include "import/ndz.h"
#include "import/recognise.h"
#include "import/virtual.h"

#define DEPTH 4u // nested formats: disk.qcow2.gz has two

static int recognise(int fd, enum import_kind *ret, struct fault *fault) {
	cleanup_free uint8_t *head = malloc(IMPORT_HEAD);
	uint8_t tail[IMPORT_TAIL];
	const char *why = NULL;
	struct stat st;
	ssize_t n, m;
	size_t end;

	if (!head || fstat(fd, &st) < 0 || (n = pread(fd, head, IMPORT_HEAD, 0)) < 0)
		return fault_errno(fault, CODE_FAILED, head ? errno : ENOMEM, "read");
	end = st.st_size < (off_t)sizeof(tail) ? (size_t)st.st_size : sizeof(tail);
	m = pread(fd, tail, end, st.st_size - (off_t)end);
	*ret = import_recognise(head, (size_t)n, tail, m > 0 ? (size_t)m : 0, &why);
	if (*ret == IMPORT_RAW && m == (ssize_t)sizeof(tail) && foreign_is_fixed_vhd(tail, (uint64_t)st.st_size))
		*ret = IMPORT_VPC;
	if (*ret == IMPORT_SLED)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "it is a Sled image already: publish it unchanged, or unpack it with zstd -dc first");
	return why ? fault_set(fault, CODE_UNSUPPORTED, "%s", why) : 0;
}

// Converts all of `fd` to a new file.
typedef int convert_fn(int fd, enum import_kind kind, const struct import_room *room, int *ret_fd, struct fault *fault);

static convert_fn *converter(enum import_kind kind) {
	switch (kind) {
	case IMPORT_GZIP:
	case IMPORT_XZ:
	case IMPORT_ZSTD:
	case IMPORT_BZIP2:
	case IMPORT_LZ4: return import_decompress;
	case IMPORT_QCOW2:
	case IMPORT_VMDK:
	case IMPORT_VHDX:
	case IMPORT_VDI:
	case IMPORT_VPC: return import_virtual;
	case IMPORT_PARTCLONE: return import_partclone;
	case IMPORT_NDZ: return import_ndz;
	default: return NULL;
	}
}

// Converts one format after the other, until the disk is raw.
static int unwrap(int *fd, const struct import_room *room, struct fault *fault) {
	for (unsigned i = 0; i < DEPTH; i++) {
		enum import_kind kind = IMPORT_RAW;
		convert_fn *convert;
		int made, r = recognise(*fd, &kind, fault);

		if (r < 0)
			return r;
		if (!(convert = converter(kind)))
			return 0;
		r = convert(*fd, kind, room, &made, fault);
		if (r < 0)
			return r;
		close(*fd);
		*fd = made;
	}
	return fault_set(fault, CODE_UNSUPPORTED, "more than %u nested formats", DEPTH);
}

static int import_folder(int dir, const char *path, const struct import_room *room, int *ret_fd, struct fault *fault) {
	if (faccessat(dir, "parts", R_OK, 0) == 0)
		return import_clonezilla(dir, path, room, ret_fd, fault);
	if (faccessat(dir, "d1.partitions", R_OK, 0) == 0)
		return import_fog(dir, path, room, ret_fd, fault);
	return fault_set(
		fault, CODE_UNSUPPORTED,
		"the folder is neither of Clonezilla (no file \"parts\") nor of FOG (no file \"d1.partitions\")");
}

// Opens a device exclusively: a mounted one would change while it is read.
static int open_alone(const char *path, const struct stat *st) {
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | (S_ISBLK(st->st_mode) ? O_EXCL : 0));
	return fd < 0 ? -errno : fd;
}

static int check_unchanged(const char *path, const struct stat *before, struct fault *fault) {
	struct stat now;

	if (stat(path, &now) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "stat");
	return file_changed(before, &now) ? fault_set(fault, CODE_DISK,
						      "another program has written to it while it "
						      "was read: stop that program, or copy the file first")
					  : 0;
}

static int import(const char *path, const struct import_room *room, int *ret_fd, struct fault *fault) {
	cleanup_close int fd = -1;
	struct stat st;
	int r;

	if (stat(path, &st) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "open");
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return fault_set(fault, CODE_UNSUPPORTED, "it is not a file, a block device or a folder");
	fd = open_alone(path, &st);
	if (fd == -EBUSY)
		return in_use_report("", st.st_rdev, fault);
	if (fd < 0)
		return fault_errno(fault, CODE_FAILED, fd, "open");
	if (S_ISDIR(st.st_mode))
		return import_folder(fd, path, room, ret_fd, fault);
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	r = in_use_check("", fd, false, fault);
	if (r == 0 && S_ISREG(st.st_mode))
		r = unwrap(&fd, room, fault);
	if (r == 0 && S_ISREG(st.st_mode))
		r = check_unchanged(path, &st, fault);
	if (r == 0)
		*ret_fd = steal_fd(&fd);
	return r;
}

int import_open(const char *path, const struct import_room *room, int *ret_fd, struct fault *fault) {
	int r = import(path, room, ret_fd, fault);
	return r < 0 ? fault_prefix(fault, r, "%s: ", path) : r;
}
