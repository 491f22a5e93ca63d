// SPDX-License-Identifier: Apache-2.0
#include "image/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "image/layout.h"

#define DEPTH 4u // forms within forms: disk.qcow2.gz has two

static bool starts(const uint8_t *data, size_t size, size_t at, const void *bytes, size_t count) {
	return at + count <= size && !memcmp(data + at, bytes, count);
}

static bool is_zero(const uint8_t *data, size_t size) {
	for (size_t i = 0; i < size; i++)
		if (data[i])
			return false;
	return true;
}

// An image of another file, or one that names it, would bring in whatever that name means here.
static enum import_kind recognise_qcow2(const uint8_t *head, size_t size, const char **ret_why) {
	bool v3 = size >= 80 && head[7] >= 3;

	if (size < 80 || (is_zero(head + 8, 8) && !(v3 && head[79] & 4)))
		return IMPORT_QCOW2;
	*ret_why = "it is made of more than one file (a backing or data file): join them with qemu-img convert first";
	return IMPORT_REFUSED;
}

static enum import_kind recognise_vmdk(const uint8_t *head, size_t size, const char **ret_why) {
	if (!memmem(head, size, "parentFileNameHint", strlen("parentFileNameHint")))
		return IMPORT_VMDK;
	*ret_why = "it is a snapshot of another file: join them with qemu-img convert first";
	return IMPORT_REFUSED;
}

enum import_kind import_recognise(const uint8_t *head, size_t size, const uint8_t *tail, size_t tail_size, const char **ret_why) {
	static const struct {
		size_t at, count;
		const char *bytes;
		enum import_kind kind;
	} magics[] = {
		{0, 2, "\x1f\x8b", IMPORT_GZIP},	  {0, 6, "\xfd" "7zXZ\0", IMPORT_XZ},    {0, 4, "\x28\xb5\x2f\xfd", IMPORT_ZSTD},
		{0, 3, "BZh", IMPORT_BZIP2},		  {0, 4, "\x04\x22\x4d\x18", IMPORT_LZ4}, {0, 4, "QFI\xfb", IMPORT_QCOW2},
		{0, 4, "KDMV", IMPORT_VMDK},		  {0, 4, "COWD", IMPORT_VMDK},	       {0, 8, "vhdxfile", IMPORT_VHDX},
		{0, 8, "conectix", IMPORT_VPC},		  {64, 4, "\x7f\x10\xda\xbe", IMPORT_VDI}, {0, 15, "partclone-image", IMPORT_PARTCLONE},
	};

	for (size_t i = 0; i < ELEMENTS(magics); i++) {
		if (!starts(head, size, magics[i].at, magics[i].bytes, magics[i].count))
			continue;
		if (magics[i].kind == IMPORT_QCOW2)
			return recognise_qcow2(head, size, ret_why);
		if (magics[i].kind == IMPORT_VMDK)
			return recognise_vmdk(head, size, ret_why);
		if (magics[i].kind == IMPORT_ZSTD && tail_size == SEEK_FOOTER && seek_table_size(tail))
			return IMPORT_SLED;
		return magics[i].kind;
	}
	if (starts(head, size, 0, "# Disk DescriptorFile", 21)) {
		*ret_why = "it only describes other files: give the disk itself, or join them with qemu-img convert";
		return IMPORT_REFUSED;
	}
	return IMPORT_RAW;
}

static int recognise(int fd, enum import_kind *ret, struct fault *fault) {
	cleanup_free uint8_t *head = malloc(IMPORT_HEAD);
	uint8_t tail[SEEK_FOOTER];
	const char *why = NULL;
	struct stat st;
	ssize_t n, m;

	if (!head || fstat(fd, &st) < 0 || (n = pread(fd, head, IMPORT_HEAD, 0)) < 0)
		return fault_errno(fault, CODE_FAILED, head ? errno : ENOMEM, "read");
	m = st.st_size > (off_t)sizeof(tail) ? pread(fd, tail, sizeof(tail), st.st_size - (off_t)sizeof(tail)) : 0;
	*ret = import_recognise(head, (size_t)n, tail, m > 0 ? (size_t)m : 0, &why);
	if (*ret == IMPORT_SLED)
		return fault_set(fault, CODE_UNSUPPORTED, "it is an image already: publish it as it is (zstd -dc gives its disk, should it be packed again)");
	return why ? fault_set(fault, CODE_UNSUPPORTED, "%s", why) : 0;
}

static import_convert *converter(enum import_kind kind) {
	switch (kind) {
	case IMPORT_GZIP:
	case IMPORT_XZ:
	case IMPORT_ZSTD:
	case IMPORT_BZIP2:
	case IMPORT_LZ4:
		return import_decompress;
	case IMPORT_QCOW2:
	case IMPORT_VMDK:
	case IMPORT_VHDX:
	case IMPORT_VDI:
	case IMPORT_VPC:
		return import_virtual;
	case IMPORT_PARTCLONE:
		return import_partclone;
	default:
		return NULL;
	}
}

// One form after the other, until it is raw.
static int unwrap(int *fd, const char *folder, struct fault *fault) {
	for (unsigned i = 0; i < DEPTH; i++) {
		enum import_kind kind = IMPORT_RAW;
		import_convert *convert;
		int made, r = recognise(*fd, &kind, fault);

		if (r < 0)
			return r;
		if (!(convert = converter(kind)))
			return 0;
		r = convert(*fd, kind, folder, &made, fault);
		if (r < 0)
			return r;
		close(*fd);
		*fd = made;
	}
	return fault_set(fault, CODE_UNSUPPORTED, "more than %u forms in each other", DEPTH);
}

static int import_folder(int dir, const char *path, const char *folder, int *ret_fd, struct fault *fault) {
	if (faccessat(dir, "parts", R_OK, 0) == 0)
		return import_clonezilla(dir, path, folder, ret_fd, fault);
	if (faccessat(dir, "d1.partitions", R_OK, 0) == 0)
		return import_fog(dir, path, folder, ret_fd, fault);
	return fault_set(fault, CODE_UNSUPPORTED, "is a folder, but neither of Clonezilla (no file \"parts\") nor of FOG (no file \"d1.partitions\")");
}

// A device is for this process alone: what is mounted changes while it is read.
static int open_alone(const char *path, const struct stat *st) {
	int fd = open(path, O_RDONLY | O_CLOEXEC | (S_ISBLK(st->st_mode) ? O_EXCL : 0));
	return fd < 0 ? -errno : fd;
}

static int import(const char *path, const char *folder, int *ret_fd, struct fault *fault) {
	cleanup_close int fd = -1;
	struct stat st;
	int r;

	if (stat(path, &st) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "open");
	fd = open_alone(path, &st);
	if (fd == -EBUSY)
		return fault_set(fault, CODE_DISK, "is in use: unmount what is on it");
	if (fd < 0)
		return fault_errno(fault, CODE_FAILED, fd, "open");
	if (S_ISDIR(st.st_mode))
		return import_folder(fd, path, folder, ret_fd, fault);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return fault_set(fault, CODE_UNSUPPORTED, "is neither a file, a block device nor a folder");
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	r = S_ISREG(st.st_mode) ? unwrap(&fd, folder, fault) : 0;
	if (r == 0)
		*ret_fd = steal_fd(&fd);
	return r;
}

int import_open(const char *path, const char *folder, int *ret_fd, struct fault *fault) {
	int r = import(path, folder, ret_fd, fault);
	return r < 0 ? fault_prefix(fault, r, "%s: ", path) : r;
}
