// SPDX-License-Identifier: Apache-2.0
// A small UFS in memory, of either version and order of bytes: two groups of 64 fragments of 1 KiB, with a file of
// eight of them in the first. Offsets: pack/ufs.c.
#pragma once

#include <string.h>

#include "base/bytes.h"

#define UFS_DISK (128u << 10)
#define UFS_SUPER 8192u
#define UFS_EACH 64u
#define UFS_GROUP 24u // fragments from the start of a group
#define UFS_DATA 32u  // there is the list of groups in the first one
#define UFS_MAP 168u

struct memory_ufs {
	uint8_t *disk;
	bool is_two, is_big_endian;
};

static void ufs_put(const struct memory_ufs *m, uint32_t at, uint32_t value) {
	for (unsigned i = 0; i < 4; i++)
		m->disk[at + i] = (uint8_t)(value >> 8 * (m->is_big_endian ? 3 - i : i));
}

// 64 bits of UFS2.
static void ufs_put_long(const struct memory_ufs *m, uint32_t at, uint32_t value) {
	ufs_put(m, at + (m->is_big_endian ? 4 : 0), value);
}

static void ufs_put_free(const struct memory_ufs *m, uint32_t map, uint32_t from, uint32_t to) {
	for (uint32_t i = from; i < to; i++)
		m->disk[map + i / 8] |= (uint8_t)(1 << i % 8);
}

static void ufs_put_group(const struct memory_ufs *m, uint32_t number, uint32_t blocks, uint32_t fragments) {
	uint32_t at = (number * UFS_EACH + UFS_GROUP) * 1024, list = UFS_DATA * 1024 + number * 16;

	ufs_put(m, at + 4, 0x00090255);
	ufs_put(m, at + 12, number);
	ufs_put(m, at + 20, UFS_EACH);
	ufs_put(m, at + 28, blocks);
	ufs_put(m, at + 36, fragments);
	ufs_put(m, at + 96, UFS_MAP);
	ufs_put(m, list + 4, blocks);
	ufs_put(m, list + 12, fragments);
}

static void ufs_put_super(const struct memory_ufs *m) {
	static const uint32_t fields[][2] = {
		{8, 16},    {12, UFS_GROUP}, {16, 28},	{20, UFS_DATA},	 {36, 128},   {44, 2},
		{48, 4096}, {52, 1024},	     {56, 4},	{152, UFS_DATA}, {156, 1024}, {160, 1024},
		{184, 16},  {188, UFS_EACH}, {196, 17}, {204, 3},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		ufs_put(m, UFS_SUPER + fields[i][0], fields[i][1]);
	m->disk[UFS_SUPER + 209] = 1;
	ufs_put_long(m, UFS_SUPER + 1000, UFS_SUPER);
	ufs_put_long(m, UFS_SUPER + 1016, 17);
	ufs_put_long(m, UFS_SUPER + 1032, 3);
	ufs_put_long(m, UFS_SUPER + 1080, 128);
	ufs_put_long(m, UFS_SUPER + 1096, UFS_DATA);
	ufs_put(m, UFS_SUPER + 1372, m->is_two ? 0x19540119 : 0x00011954);
}

static void ufs_make(const struct memory_ufs *m) {
	uint32_t map = UFS_GROUP * 1024 + UFS_MAP;

	memset(m->disk, 0, UFS_DISK);
	ufs_put_super(m);
	ufs_put_group(m, 0, 5, 3);
	ufs_put_free(m, map, UFS_DATA + 1, 40);
	ufs_put_free(m, map, 48, UFS_EACH);
	ufs_put_group(m, 1, 12, 0);
	ufs_put_free(m, map + UFS_EACH * 1024, 0, 16);
	ufs_put_free(m, map + UFS_EACH * 1024, UFS_DATA, UFS_EACH);
}
