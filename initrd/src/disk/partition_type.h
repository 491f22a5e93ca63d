// SPDX-License-Identifier: Apache-2.0
// What the table states about a partition's content. Pure functions.
#pragma once

#include <stdint.h>

enum partition_type {
	PARTITION_ANY,	 // a filesystem, or an unknown type
	PARTITION_SWAP,	 // of Linux
	PARTITION_OTHER, // neither: RAID, LVM, encryption, a loader, storage of other systems
	PARTITION_SLICE, // of a BSD, or a disk without a table: it may have a disklabel
};

enum partition_type partition_type_mbr(uint8_t type);
enum partition_type partition_type_gpt(const uint8_t guid[16]);
