// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "import/recognise.h"
#include "base/cleanup.h"
#include "pack/probe.h"
#include "tap.h"

#include <stdlib.h>

static uint8_t *head, *tail;
static struct probe found;

static const char *look(size_t size) {
	probe(head, size, tail, PROBE_TAIL, &found);
	return found.name;
}

static void begin(void) {
	memset(head, 0, PROBE_HEAD);
	memset(tail, 0, PROBE_TAIL);
}

static void put_ext(uint32_t compat, uint32_t incompat, uint32_t ro, uint8_t state) {
	begin();
	head[1024 + 56] = 0x53;
	head[1024 + 57] = 0xef;
	head[1024 + 58] = state;
	put_le32(head + 1024 + 92, compat);
	put_le32(head + 1024 + 96, incompat);
	put_le32(head + 1024 + 100, ro);
}

static void test_ext(void) {
	put_ext(0, 2, 3, 1);
	same(look(PROBE_HEAD), "ext2", "ext2");
	ok(found.kind == CONTENT_FILESYSTEM && !found.objection, "as it should be");
	put_ext(4, 2, 3, 1);
	same(look(PROBE_HEAD), "ext3", "with a journal");
	put_ext(4, 0x42, 3, 1);
	same(look(PROBE_HEAD), "ext4", "with extents");
	put_ext(4, 0x46, 3, 1);
	ok(!strcmp(look(PROBE_HEAD), "ext4") && found.objection, "to be replayed: %s", found.objection);
	put_ext(0, 2, 3, 0);
	ok(look(PROBE_HEAD) && found.objection, "not unmounted: %s", found.objection);
	put_ext(0, 2, 3, 3);
	ok(look(PROBE_HEAD) && found.objection, "with errors: %s", found.objection);
	put_ext(0, 8, 0, 1);
	same(look(PROBE_HEAD), "data", "a journal device");
}

static void test_btrfs(void) {
	begin();
	memcpy(head + 65536 + 64, "_BHRfS_M", 8);
	head[65536 + 0x88] = 1;
	same(look(PROBE_HEAD), "btrfs", "btrfs");
	ok(!found.objection, "one device");
	head[65536 + 0x61] = 1;
	ok(look(PROBE_HEAD) && found.objection, "a log: %s", found.objection);
	head[65536 + 0x88] = 2;
	ok(look(PROBE_HEAD) && strstr(found.objection, "several"), "two devices: %s", found.objection);
	same(look(65536), "data", "its superblock is not in so small a partition");
}

static void put_fat(const char *name, uint8_t clusters) {
	begin();
	memcpy(head, "\xeb\x3c\x90", 3);
	memcpy(head + 3, name, 8);
	head[12] = 2; // 512
	head[13] = clusters;
	head[14] = 1;
	head[16] = 2;
	head[18] = 2; // 512 entries
	head[21] = 0xf8;
	head[22] = 200;
	put_le32(head + 32, 65536);
	head[510] = 0x55;
	head[511] = 0xaa;
}

static void test_fat(void) {
	put_fat("mkfs.fat", 4);
	same(look(PROBE_HEAD), "fat", "FAT");
	ok(found.kind == CONTENT_FILESYSTEM, "with 16 bits: by its map");
	put_fat("mkfs.fat", 32);
	ok(!strcmp(look(PROBE_HEAD), "fat") && found.kind == CONTENT_ALL, "with 12 bits: whole");
	head[13] = 3;
	same(look(PROBE_HEAD), "data", "no power of two");
	put_fat("mkfs.fat", 4);
	head[16] = 3;
	same(look(PROBE_HEAD), "data", "three tables, of which two alone are compared: whole");
	put_fat("mkfs.fat", 4);
	head[22] = 0;
	head[36] = 200;
	ok(!strcmp(look(PROBE_HEAD), "fat") && !found.doubt, "with 32 bits");
	head[40] = 0x01;
	ok(look(PROBE_HEAD) && !found.doubt, "all of its tables are the same");
	head[40] = 0x81;
	ok(!strcmp(look(PROBE_HEAD), "fat") && found.doubt, "only the second table counts: %s", found.doubt);
	head[40] = 0x80;
	ok(look(PROBE_HEAD) && !found.doubt, "only the first one counts");
	put_fat("NTFS    ", 4);
	head[21] = 0;
	same(look(PROBE_HEAD), "ntfs", "NTFS");
	ok(found.copy_at_end, "has a copy of its boot sector in the last sector");
	put_fat("EXFAT   ", 0);
	head[110] = 1;
	ok(!strcmp(look(PROBE_HEAD), "exfat") && !found.doubt, "exFAT");
	head[110] = 2;
	ok(!strcmp(look(PROBE_HEAD), "exfat") && found.doubt, "of two tables: %s", found.doubt);
	head[106] = 2;
	ok(look(PROBE_HEAD) && found.objection, "dirty: %s", found.objection);
}

static void put_swap(size_t page) {
	begin();
	memcpy(head + page - 10, "SWAPSPACE2", 10);
	head[1024] = 1;
	head[1028] = 7;
}

static void test_suspended(void) {
	static const char *const marks[] = {"S1SUSPEND", "S2SUSPEND", "ULSUSPEND", "LINHIB0001",
					    "\xed\xc3\x02\xe9\x98\x56\xe5\x0c"};

	for (size_t i = 0; i < ELEMENTS(marks); i++) {
		put_swap(4096);
		memset(head + 4086, 0, 10);
		memcpy(head + 4086, marks[i], strlen(marks[i]));
		ok(!strcmp(look(PROBE_HEAD), "swsuspend") && found.objection, "%s", marks[i]);
	}
}

static void test_others(void) {
	begin();
	same(look(PROBE_HEAD), "data", "zeros");
	ok(found.kind == CONTENT_ALL, "kept whole");
	put_swap(4096);
	ok(!strcmp(look(PROBE_HEAD), "swap") && found.kind == CONTENT_SWAP && found.header == 4096, "swap");
	ok(found.bytes == 8 * 4096 && !found.doubt, "of 8 pages");
	head[1024] = 2;
	ok(look(PROBE_HEAD) && found.doubt, "of another version: %s", found.doubt);
	put_swap(4096);
	head[1028] = 0;
	ok(look(PROBE_HEAD) && found.doubt, "without a page: %s", found.doubt);
	put_swap(65536);
	ok(!strcmp(look(PROBE_HEAD), "swap") && found.header == 65536, "swap of large pages");
	test_suspended();
	begin();
	memcpy(head + 512, "LABELONE", 8);
	memcpy(head + 536, "LVM2 001", 8);
	same(look(PROBE_HEAD), "lvm", "LVM");
	begin();
	memcpy(head, "LUKS\xba\xbe", 6);
	same(look(PROBE_HEAD), "luks", "LUKS");
	begin();
	memcpy(head, "XFSB", 4);
	same(look(PROBE_HEAD), "xfs", "xfs");
	put_le32(tail + PROBE_TAIL - 8192, 0xa92b4efc);
	ok(!strcmp(look(PROBE_HEAD), "data") && found.doubt, "in a RAID: %s", found.doubt);
	put_ext(0, 2, 3, 1);
	memcpy(head, "XFSB", 4);
	ok(!strcmp(look(PROBE_HEAD), "data") && found.doubt && !found.objection, "two at once: %s", found.doubt);
	begin();
	put_le32(head + 1024, 0xf2f52010);
	same(look(PROBE_HEAD), "f2fs", "f2fs");
	same(look(512), "data", "a partition of one sector");
}

static void put_kind(unsigned kind) {
	begin();
	switch (kind) {
	case 0: put_ext(4, 0x42, 3, 1); break;
	case 1: put_fat("mkfs.fat", 4); break;
	case 2:
		put_fat("NTFS    ", 4);
		head[21] = 0;
		break;
	case 3: put_fat("EXFAT   ", 0); break;
	case 4: put_swap(4096); break;
	case 5: memcpy(head, "XFSB", 4); break;
	default: put_le32(head + 1024, 0xf2f52010);
	}
}

// A member with metadata 1.2, which leaves the first 4 KiB as they were, or 1.0, which is at the end.
static void test_raid(void) {
	for (unsigned kind = 0; kind < 7; kind++)
		for (unsigned at_end = 0; at_end < 2; at_end++) {
			put_kind(kind);
			ok(strcmp(look(PROBE_HEAD), "data") && found.kind != CONTENT_ALL, "%s alone", found.name);
			put_le32(at_end ? tail + PROBE_TAIL - 8192 : head + 4096, 0xa92b4efc);
			ok(!strcmp(look(PROBE_HEAD), "data") && found.doubt && found.kind == CONTENT_ALL &&
				   !found.objection,
			   "below a RAID: %s", found.doubt);
		}
}

static void test_table(void) {
	put_swap(4096);
	memcpy(head + 510, "\x55\xaa", 2);
	ok(!strcmp(look(PROBE_HEAD), "swap") && !found.doubt, "boot code without a table");
	head[446 + 12] = 1;
	ok(!strcmp(look(PROBE_HEAD), "data") && found.doubt && found.kind == CONTENT_ALL, "a table: %s", found.doubt);
	head[446 + 16] = 0x80;
	head[446 + 48] = 0x7f;
	ok(!strcmp(look(PROBE_HEAD), "swap") && !found.doubt, "text where entries would be");
	for (size_t at = 512; at <= 4096; at *= 8) {
		begin();
		memcpy(head + 65536 + 64, "_BHRfS_M", 8);
		head[65536 + 0x88] = 1;
		memcpy(head + at, "EFI PART", 8);
		ok(!strcmp(look(PROBE_HEAD), "data") && found.doubt, "a GPT without its MBR, sectors of %zu: %s", at,
		   found.doubt);
	}
	begin();
	memcpy(head, "LUKS\xba\xbe", 6);
	memcpy(head + 510, "\x55\xaa", 2);
	head[446 + 12] = 1;
	same(look(PROBE_HEAD), "luks", "kept whole all the same");
}

static enum import_kind kind_of(const char *bytes, size_t size, const char *tail_bytes) {
	const char *why;
	memset(head, 0, IMPORT_HEAD);
	memcpy(head, bytes, size);
	return import_recognise(head, IMPORT_HEAD, (const uint8_t *)tail_bytes, tail_bytes ? 9 : 0, &why);
}

static void test_import(void) {
	ok(kind_of("\x1f\x8b\x08", 3, NULL) == IMPORT_GZIP && kind_of("\xfd"
								      "7zXZ\0",
								      6, NULL) == IMPORT_XZ,
	   "gzip, xz");
	ok(kind_of("\x28\xb5\x2f\xfd", 4, "123456789") == IMPORT_ZSTD, "zstd");
	ok(kind_of("\x28\xb5\x2f\xfd", 4, "\x03\0\0\0\0\xb1\xea\x92\x8f") == IMPORT_SLED, "an image");
	ok(kind_of("QFI\xfb\0\0\0\3", 8, NULL) == IMPORT_QCOW2, "qcow2");
	ok(kind_of("QFI\xfb\0\0\0\2\0\0\0\0\0\0\1\0", 16, NULL) == IMPORT_REFUSED, "qcow2 with a backing file");
	ok(kind_of("QFI\xfb\0\0\0\1", 8, NULL) == IMPORT_REFUSED, "qcow");
	ok(kind_of("KDMV\1\0\0\0", 8, NULL) == IMPORT_REFUSED &&
		   kind_of("# Disk DescriptorFile\n", 22, NULL) == IMPORT_REFUSED,
	   "vmdk without content, and its description");
	ok(kind_of("QED\0", 4, NULL) == IMPORT_REFUSED && kind_of("QEDs", 4, NULL) == IMPORT_RAW, "QED");
	ok(kind_of("kiii", 4, NULL) == IMPORT_NDZ && kind_of("niii", 4, NULL) == IMPORT_NDZ &&
		   kind_of("oiii", 4, NULL) == IMPORT_RAW,
	   "imagezip");
	ok(kind_of("partclone-image\0", 16, NULL) == IMPORT_PARTCLONE && kind_of("", 0, NULL) == IMPORT_RAW,
	   "partclone, raw");
}

// In front of what is recognised: it is older.
static void test_other_tables(void) {
	static const struct {
		size_t at;
		const char *magic, *name;
	} all[] = {
		{15 * 512, "RDSK", "Amiga"},
		{512, "\xe5\xd6\xd3\xf1", "IBM"},
		{8192 + 4, "\xe5\xd6\xd3\xf1", "DASD"},
		{64, "\x57\x45\x56\x82", "OSF/1"},
		{248, "MOTOROLA", "Motorola"},
		{510, "\x56\xab", "Karma"},
	};

	for (size_t i = 0; i < ELEMENTS(all); i++) {
		put_ext(4, 0x42, 3, 1);
		memcpy(head + all[i].at, all[i].magic, strlen(all[i].magic));
		same(look(PROBE_HEAD), "data", all[i].name);
		ok(found.doubt && found.is_known, "is in doubt");
	}
}

int main(void) {
	head = malloc(PROBE_HEAD);
	tail = malloc(PROBE_TAIL);
	test_ext();
	test_other_tables();
	test_btrfs();
	test_fat();
	test_others();
	test_raid();
	test_table();
	test_import();
	free(head);
	free(tail);
	return tap_done();
}
