// SPDX-License-Identifier: Apache-2.0
// The formats of disk files.
#pragma once

enum import_kind {
	IMPORT_RAW,
	IMPORT_SLED, // a Sled image
	IMPORT_GZIP,
	IMPORT_XZ,
	IMPORT_ZSTD,
	IMPORT_BZIP2,
	IMPORT_LZ4,
	IMPORT_QCOW2,
	IMPORT_VMDK,
	IMPORT_VHDX,
	IMPORT_VDI,
	IMPORT_VPC,
	IMPORT_PARTCLONE,
	IMPORT_NDZ,
	IMPORT_REFUSED, // it cannot be read alone, or not at all: see *ret_why
};

#define IMPORT_HEAD (64u << 10) // bytes that are read to recognise a format
#define IMPORT_TAIL 512u
#define ZSTD_WINDOW_LOG 30    // largest window of a frame that is decompressed: 1 GiB
#define ZSTD_LONG "--long=30" // the same for zstd
