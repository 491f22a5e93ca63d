// SPDX-License-Identifier: Apache-2.0
// Which form of a disk a file is. Pure.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum import_kind {
	IMPORT_RAW,
	IMPORT_SLED, // an image of this format
	IMPORT_GZIP, IMPORT_XZ, IMPORT_ZSTD, IMPORT_BZIP2, IMPORT_LZ4,
	IMPORT_QCOW2, IMPORT_VMDK, IMPORT_VHDX, IMPORT_VDI, IMPORT_VPC,
	IMPORT_PARTCLONE,
	IMPORT_REFUSED, // it needs other files; *ret_why says so
};

#define IMPORT_HEAD (64u << 10) // bytes that tell one kind from another

// By what is in it, never by its name. `tail`: the last bytes, 0 to 9 of them.
enum import_kind import_recognise(const uint8_t *head, size_t size, const uint8_t *tail, size_t tail_size,
				  const char **ret_why);
