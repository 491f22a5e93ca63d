// SPDX-License-Identifier: Apache-2.0
// Filesystems in memory whose state is not in their first bytes: the table of probe.c names the check of each.
#include <stdlib.h>

#include "base/bytes.h"
#include "pack/probe.h"
#include "tap.h"

#define SIZE (32u << 10)

static uint8_t disk[SIZE];

static void put_be32(uint8_t *p, uint32_t n) {
	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(n >> (24 - 8 * i));
}

// What probe and its check say of the disk: "NAME", "NAME: OBJECTION" or "NAME: in doubt".
static const char *state(void) {
	static char text[128];
	const struct reader reader = {.name = "memory", .bytes = SIZE, .fd = -1, .memory = disk};
	const struct partition partition = {0, SIZE};
	struct fault fault = {0};
	struct probe found;

	probe(disk, SIZE, disk, SIZE, &found);
	if (found.check && !found.objection &&
	    found.check(&reader, &partition, &found.objection, &found.doubt, &fault) < 0)
		found.objection = fault.text;
	snprintf(text, sizeof(text), "%s%s%.100s%s", found.name, found.objection ? ": " : "",
		 found.objection ? found.objection : "", found.doubt ? ": in doubt" : "");
	return text;
}

// The log is in blocks 1 to 4; its newest record is that of an unmount.
static void test_xfs(void) {
	uint8_t *record = disk + 4096;

	memset(disk, 0, SIZE);
	memcpy(disk, "XFSB", 4);
	put_be32(disk + 4, 4096);
	put_be32(disk + 52, 1);
	put_be32(disk + 84, 64);
	put_be32(disk + 96, 4);
	disk[124] = 6;
	put_be32(record, 0xfeedbabe);
	put_be32(record + 16, 1);
	put_be32(record + 40, 1);
	record[512 + 9] = 0x20;
	same(state(), "xfs", "unmounted");
	record[512 + 9] = 0;
	ok(!strncmp(state(), "xfs: its log", 12), "in use: %s", state());
	record[0] = 0;
	same(state(), "xfs: in doubt", "a log without a record");
	record[0] = 0xfe;
	put_be32(disk + 96, 400);
	ok(strstr(state(), "larger than its partition"), "cut off: %s", state());
	disk[124] = 32;
	ok(!strncmp(state(), "xfs: its superblock", 19), "damaged: %s", state());
}

// Clusters of 512 bytes, the master file table at the 16th, records of 1 KiB.
// The third record, with one run of data from byte 20,480 on: a log that has never been written. Its first page.
static uint8_t *put_ntfs_log(void) {
	uint8_t *record = disk + 8192 + 2 * 1024, *data = record + 56;

	memcpy(record, "FILE", 4);
	record[6] = 1;
	record[20] = 56;
	put_le32(data, 0x80);
	put_le32(data + 4, 72);
	data[8] = 1;
	data[32] = 64;
	put_le32(data + 48, 8192);
	memcpy(data + 64, "\x11\x10\x28", 3);
	memset(disk + 20480, 0xff, 8192);
	return disk + 20480;
}

// The sixth record: a root folder without a file.
static void put_ntfs_root(void) {
	uint8_t *record = disk + 8192 + 5 * 1024, *index = record + 56;

	memcpy(record, "FILE", 4);
	record[6] = 1;
	record[20] = 56;
	put_le32(index, 0x90);
	put_le32(index + 4, 24 + 48);
	index[20] = 24;
	put_le32(index + 24 + 8, 4096);
	index[24 + 32 + 8] = 16;
	index[24 + 32 + 12] = 2;
}

static void put_restart(uint8_t *page, uint8_t lsn, uint8_t client, uint8_t flags) {
	memcpy(page, "RSTR", 4);
	put_le32(page + 16, 4096);
	page[24] = 48;
	page[25] = 0;
	memset(page + 48, 0, 16);
	page[48] = lsn;
	memset(page + 48 + 12, client, 2);
	page[48 + 14] = flags;
}

static void test_ntfs_log(uint8_t *log) {
	put_restart(log, 5, 0xff, 0);
	put_restart(log + 4096, 4, 0, 0);
	same(state(), "ntfs", "nobody has its log open");
	log[48] = 3;
	ok(!strncmp(state(), "ntfs: it was not shut down", 26), "the second page is newer: %s", state());
	log[4096 + 48 + 14] = 2;
	same(state(), "ntfs", "open, but clean");
	put_restart(log, 6, 0, 0);
	ok(!strncmp(state(), "ntfs: it was not shut down", 26), "open: %s", state());
	log[25] = 2;
	same(state(), "ntfs", "a page whose area is not in its first sector is none");
	memset(log, 1, 8192);
	same(state(), "ntfs: in doubt", "no page of a log");
	memset(log, 0xff, 8192);
	disk[8192 + 2 * 1024 + 56 + 66] = 100;
	same(state(), "ntfs: in doubt", "a log behind the end");
	disk[8192 + 2 * 1024] = 0;
	same(state(), "ntfs: in doubt", "no record of it");
}

static void test_ntfs(void) {
	uint8_t *volume = disk + 8192 + 3 * 1024, *log;

	memset(disk, 0, SIZE);
	memcpy(disk + 3, "NTFS    ", 8);
	memcpy(disk + 510, "\x55\xaa", 2);
	disk[12] = 2;
	disk[13] = 1;
	disk[48] = 16;
	disk[64] = 2;
	log = put_ntfs_log();
	ok(!strncmp(state(), "ntfs: its volume record", 23), "no record: %s", state());
	memcpy(volume, "FILE", 4);
	volume[20] = 56;
	put_le32(volume + 56, 0x70);
	put_le32(volume + 60, 40);
	volume[56 + 20] = 24;
	ok(!strncmp(state(), "ntfs: whether Windows hibernates", 32), "no root folder: %s", state());
	put_ntfs_root();
	same(state(), "ntfs", "shut down");
	volume[56 + 24 + 10] = 1;
	ok(!strncmp(state(), "ntfs: it was not shut down", 26), "dirty: %s", state());
	volume[56 + 24 + 10] = 0;
	test_ntfs_log(log);
}

// Blocks and segments of 512 bytes, the checkpoints at the eighth.
static void test_f2fs(void) {
	memset(disk, 0, SIZE);
	put_le32(disk + 1024, 0xf2f52010);
	put_le32(disk + 1024 + 16, 9);
	put_le32(disk + 1024 + 76, 8);
	disk[4096] = 1;
	disk[4096 + 132] = 1;
	same(state(), "f2fs", "unmounted");
	disk[4608] = 2;
	ok(!strncmp(state(), "f2fs: it was not unmounted", 26), "the newer checkpoint: %s", state());
}

static void put_fat(unsigned bits) {
	memset(disk, 0, SIZE);
	memcpy(disk, "\xeb\x58\x90mkfs.fat", 11);
	put_le16(disk + 11, 512);
	disk[13] = 1;
	put_le16(disk + 14, 1); // reserved sectors
	disk[16] = 2;
	put_le16(disk + 17, bits == 16 ? 16 : 0);
	put_le32(disk + 32, 70000);
	disk[21] = 0xf8;
	put_le16(disk + 22, bits == 16 ? 20 : 0);
	put_le32(disk + 36, bits == 16 ? 0 : 20);
	memcpy(disk + 510, "\x55\xaa", 2);
	disk[512 + 300] = disk[21 * 512 + 300] = 7;
}

// Tables of 20 sectors; the flag of Linux.
static void test_fat(unsigned bits) {
	put_fat(bits);
	same(state(), "fat", "unmounted, equal tables");
	disk[512 + 20 * 512 - 1] = 1;
	same(state(), "fat: in doubt", "the last byte of the first table differs");
	put_fat(bits);
	disk[21 * 512 + 300] = 0;
	same(state(), "fat: in doubt", "a byte of the second table differs");
	put_fat(bits);
	disk[bits == 16 ? 37 : 65] = 1;
	ok(!strncmp(state(), "fat: it was not unmounted", 25), "mounted by Linux, %u bits: %s", bits, state());
}

// What an image of one disk cannot hold.
static void test_other_devices(void) {
	memset(disk, 0, SIZE);
	put_le16(disk + 1024 + 56, 0xef53);
	put_le16(disk + 1024 + 58, 1);
	disk[1024 + 92] = 4;
	same(state(), "ext3: its journal is on another device", "ext3, external journal");
	disk[1024 + 224] = 8;
	same(state(), "ext3", "its own journal");
	memset(disk, 0, SIZE);
	memcpy(disk, "XFSB", 4);
	disk[23] = 9;
	same(state(), "xfs: its realtime section is on another device", "xfs");
}

int main(void) {
	test_fat(16);
	test_fat(32);
	test_other_devices();
	test_xfs();
	test_ntfs();
	test_f2fs();
	return tap_done();
}
