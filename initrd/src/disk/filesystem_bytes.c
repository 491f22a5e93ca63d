// SPDX-License-Identifier: Apache-2.0
// Offsets: as in pack/probe.c and pack/free_bytes.c.
#include "disk/filesystem_bytes.h"

#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"

#define BTRFS_SUPER 65536u

static uint64_t ext_bytes(const uint8_t *head) {
	const uint8_t *super = head + 1024;
	uint64_t blocks = get_le32(super + 4);

	if (get_le32(super + 96) & 0x80) // 64bit
		blocks |= (uint64_t)get_le32(super + 0x150) << 32;
	return blocks << (10 + get_le32(super + 24) % 32);
}

static uint64_t xfs_bytes(const uint8_t *head) { return get_be64(head + 8) * get_be32(head + 4); }

// Of its one device.
static uint64_t btrfs_bytes(const uint8_t *head) { return get_le64(head + BTRFS_SUPER + 0xc9 + 8); }

static uint64_t f2fs_bytes(const uint8_t *head) {
	return get_le64(head + 1024 + 36) << get_le32(head + 1024 + 16) % 32;
}

static uint64_t fat_bytes(const uint8_t *head) {
	uint64_t sectors = get_le16(head + 19) ? get_le16(head + 19) : get_le32(head + 32);
	return sectors * get_le16(head + 11);
}

static uint64_t exfat_bytes(const uint8_t *head) { return get_le64(head + 72) << head[108] % 13; }

// And the copy of its boot sector.
static uint64_t ntfs_bytes(const uint8_t *head) { return (get_le64(head + 40) + 1) * get_le16(head + 11); }

// As a physical volume uses them.
static uint64_t lvm_bytes(const uint8_t *head) {
	for (const uint8_t *label = head; label < head + 2048; label += 512)
		if (!memcmp(label, "LABELONE", 8))
			return get_le64(label + get_le32(label + 20) % 440 + 32);
	return 0;
}

static const struct growing {
	const char *content;
	uint64_t (*bytes)(const uint8_t *head);
} all[] = {
	{"ext2", ext_bytes},  {"ext3", ext_bytes}, {"ext4", ext_bytes},	   {"xfs", xfs_bytes},	 {"btrfs", btrfs_bytes},
	{"f2fs", f2fs_bytes}, {"fat", fat_bytes},  {"exfat", exfat_bytes}, {"ntfs", ntfs_bytes}, {"lvm", lvm_bytes},
};

static const struct growing *find(const char *content) {
	for (size_t i = 0; i < ELEMENTS(all); i++)
		if (!strcmp(content, all[i].content))
			return &all[i];
	return NULL;
}

bool content_can_grow(const char *content) { return find(content); }

uint64_t filesystem_bytes(const char *content, const uint8_t *head, size_t size) {
	const struct growing *growing = find(content);
	return growing && size >= FILESYSTEM_HEAD ? growing->bytes(head) : 0;
}
