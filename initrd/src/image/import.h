// SPDX-License-Identifier: Apache-2.0
// Any form of a disk that an operator has, as a raw disk: itself, or a sparse file without a name that is made of it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

enum import_kind {
	IMPORT_RAW,
	IMPORT_SLED, // an image of this format
	IMPORT_GZIP, IMPORT_XZ, IMPORT_ZSTD, IMPORT_BZIP2, IMPORT_LZ4,
	IMPORT_QCOW2, IMPORT_VMDK, IMPORT_VHDX, IMPORT_VDI, IMPORT_VPC,
	IMPORT_PARTCLONE,
	IMPORT_REFUSED, // it needs other files; *ret_why says so
};

#define IMPORT_HEAD (64u << 10) // bytes that tell one kind from another

// By what is in it, never by its name. Pure. `tail`: the last bytes, 0 to 9 of them.
enum import_kind import_recognise(const uint8_t *head, size_t size, const uint8_t *tail, size_t tail_size, const char **ret_why);

// `path`: a file or block device, or a folder of Clonezilla or FOG. Temporary files go to `folder`. Code 4 when a device is in use, 3
// for what cannot be read as a disk.
int import_open(const char *path, const char *folder, int *ret_fd, struct fault *fault);

// One for each kind, in a file of its own. Each makes a new file of the whole of `fd`.
typedef int import_convert(int fd, enum import_kind kind, const char *folder, int *ret_fd, struct fault *fault);
import_convert import_decompress, import_virtual, import_partclone;

// A folder with one file for each partition.
int import_clonezilla(int dir, const char *path, const char *folder, int *ret_fd, struct fault *fault);
int import_fog(int dir, const char *path, const char *folder, int *ret_fd, struct fault *fault);
