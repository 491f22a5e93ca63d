// SPDX-License-Identifier: Apache-2.0
// Recognises the format of a disk file. Pure.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum import_kind {
	IMPORT_RAW,
	IMPORT_SLED, // a Sled image
	IMPORT_GZIP, IMPORT_XZ, IMPORT_ZSTD, IMPORT_BZIP2, IMPORT_LZ4,
	IMPORT_QCOW2, IMPORT_VMDK, IMPORT_VHDX, IMPORT_VDI, IMPORT_VPC,
	IMPORT_PARTCLONE,
	IMPORT_REFUSED, // it cannot be read alone, or not at all: see *ret_why
};

#define IMPORT_HEAD (64u << 10) // bytes that are read to recognise a format
#define IMPORT_TAIL 512u

// By its content, never by its name. `tail`: the last bytes, at most IMPORT_TAIL.
enum import_kind import_recognise(const uint8_t *head, size_t size, const uint8_t *tail, size_t tail_size,
				  const char **ret_why);
