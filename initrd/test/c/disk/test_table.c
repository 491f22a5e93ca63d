// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "disk/gpt.h"
#include "disk/table.h"
#include "tap.h"

#include <stdlib.h>

#define MIB ((uint64_t)1 << 20)

static uint8_t *disk;
static struct reader reader;
static struct table table;
static struct fault fault;

static void begin(uint64_t bytes) {
	free(disk);
	disk = calloc(1, bytes);
	reader = (struct reader){.name = "memory", .bytes = bytes, .fd = -1, .memory = disk};
}

static bool reads(uint32_t sector) {
	table_free(&table);
	fault = (struct fault){0};
	return table_read(&reader, sector, &table, &fault) == 0;
}

static bool has(size_t i, uint64_t start, uint64_t bytes) {
	return i < table.partition_count && table.partitions[i].start == start && table.partitions[i].bytes == bytes;
}

static bool is_structure(uint64_t start, uint64_t end) {
	size_t i = extents_find(&table.structures, 0, start);
	return i < table.structures.count && table.structures.items[i].start <= start &&
	       table.structures.items[i].end >= end;
}

// Without a range: there is no such area.
static bool is_opaque(size_t i, uint64_t start, uint64_t end) {
	if (i >= table.opaque.count)
		return start == end;
	return table.opaque.items[i].start == start && table.opaque.items[i].end == end;
}

static void put_entry(uint64_t at, unsigned i, uint8_t type, uint32_t start, uint32_t count) {
	uint8_t *e = disk + at + 446 + 16 * i;
	e[4] = type;
	put_le32(e + 8, start);
	put_le32(e + 12, count);
	disk[at + 510] = 0x55;
	disk[at + 511] = 0xaa;
}

static void put_partition(uint8_t *entries, unsigned i, uint64_t start, uint64_t end) {
	memset(entries + 128 * i, 0x11, 32);
	put_le64(entries + 128 * i + 32, start);
	put_le64(entries + 128 * i + 40, end);
}

static void put_gpt(uint32_t sector) {
	uint64_t sectors = reader.bytes / sector, rows = 128 * 128 / sector;
	struct gpt gpt = {.sector = sector,
			  .disk_sectors = sectors,
			  .own = 1,
			  .other = sectors - 1,
			  .entries = 2,
			  .entry_count = 128,
			  .entry_bytes = 128,
			  .revision = {0, 0, 1, 0},
			  .first_usable = 2 + rows,
			  .last_usable = sectors - rows - 2};
	uint8_t *entries = disk + 2 * sector;

	put_partition(entries, 0, 4 * MIB / sector, 6 * MIB / sector - 1);
	put_partition(entries, 1, 2 * MIB / sector, 3 * MIB / sector - 1);
	gpt.entries_crc = gpt_crc(entries, 128 * 128);
	gpt_write(&gpt, false, disk + sector);
	gpt_write(&gpt, true, disk + gpt.other * sector);
	memcpy(disk + gpt_entries_at(&gpt, true) * sector, entries, 128 * 128);
	put_entry(0, 0, 0xee, 1, (uint32_t)sectors - 1);
}

// After a change of the first header.
static void put_header_crc(uint32_t sector) {
	put_le32(disk + sector + 16, 0);
	put_le32(disk + sector + 16, gpt_crc(disk + sector, 92));
}

static void test_none(void) {
	begin(8 * MIB);
	ok(reads(0) && table.kind == TABLE_NONE && has(0, 0, 8 * MIB) && table.structures.count == 0,
	   "no table: one partition");
	begin(1000);
	ok(!reads(0) && fault.code == CODE_UNSUPPORTED, "a size that no disk has: %s", fault.text);
	begin(512);
	ok(reads(0) && has(0, 0, 512), "one sector");
}

static void test_mbr(void) {
	begin(64 * MIB);
	put_entry(0, 1, 0x83, 4096, 2048);
	put_entry(0, 0, 0x0c, 2048, 1024);
	ok(reads(0) && table.kind == TABLE_MBR && table.sector == 512, "MBR: %s", fault.text);
	ok(table.partition_count == 2 && has(0, MIB, MIB / 2) && has(1, 2 * MIB, MIB), "two primary partitions");
	ok(table.structures.count == 1 && is_structure(0, MIB), "what lies before them");
	put_entry(0, 0, 0x0c, 63, 100);
	ok(reads(0) && table.structures.items[0].end == 63 * 512, "an old one begins at sector 63");
	ok(reads(4096) && has(0, 63 * 4096, 100 * 4096), "sectors of 4096 bytes");
	put_entry(0, 1, 0x83, 4096, 1 << 20);
	ok(!reads(0) && fault.code == CODE_UNSUPPORTED && strstr(fault.text, "cut off"), "a disk that was cut off: %s",
	   fault.text);
}

static void test_logical(void) {
	begin(64 * MIB);
	put_entry(0, 0, 0x83, 2048, 2048);
	put_entry(0, 1, 0x05, 8192, 40960);
	put_entry(8192 * 512, 0, 0x83, 2048, 4096);
	put_entry(8192 * 512, 1, 0x05, 10240, 8192);
	put_entry((8192 + 10240) * 512, 0, 0x82, 2048, 1024);
	ok(reads(0) && table.partition_count == 3, "logical partitions: %s", fault.text);
	ok(has(1, (8192 + 2048) * 512, 4096 * 512) && has(2, (8192 + 10240 + 2048) * 512, 1024 * 512),
	   "where their chain says");
	ok(is_structure(8192 * 512, 8192 * 512 + 512) && is_structure((8192 + 10240) * 512, (8192 + 10240) * 512 + 512),
	   "its sectors are kept");
	put_entry((8192 + 10240) * 512, 1, 0x05, 10240, 8192);
	ok(!reads(0) && fault.code == CODE_UNSUPPORTED, "a chain that bites its tail: %s", fault.text);
	disk[(8192 + 10240) * 512 + 510] = 0;
	ok(!reads(0) && strstr(fault.text, "broken"), "a chain that breaks: %s", fault.text);
}

static void test_gpt(uint32_t sector) {
	begin(16 * MIB);
	put_gpt(sector);
	ok(reads(0) && table.kind == TABLE_GPT && table.sector == sector && !table.warning, "GPT, sectors of %u: %s",
	   sector, fault.text);
	ok(table.partition_count == 2 && has(0, 2 * MIB, MIB) && has(1, 4 * MIB, 2 * MIB), "its partitions, by start");
	ok(is_structure(0, MIB) && is_structure(16 * MIB - sector - 16384, 16 * MIB), "both copies are kept");
	disk[sector + 60] ^= 1;
	ok(reads(0) && table.partition_count == 2 && table.warning, "first one damaged: %s",
	   table.warning ? table.warning : "");
	disk[16 * MIB - sector] ^= 1;
	ok(!reads(0) && fault.code == CODE_UNSUPPORTED, "both damaged: %s", fault.text);
	put_gpt(sector);
	memset(disk + 16 * MIB - sector, 0, sector);
	ok(reads(0) && table.partition_count == 2 && table.warning, "no copy: %s", table.warning ? table.warning : "");
	put_gpt(sector);
	put_le64(disk + 2 * sector + 32, 1);
	put_le32(disk + sector + 88, gpt_crc(disk + 2 * sector, 128 * 128));
	put_header_crc(sector);
	ok(!reads(0) && fault.code == CODE_UNSUPPORTED && strstr(fault.text, "outside"),
	   "an impossible partition, and another copy: %s", fault.text);
	put_gpt(sector);
	memcpy(disk + MIB, disk + 2 * sector, 128 * 128);
	put_le64(disk + sector + 72, MIB / sector);
	put_le64(disk + sector + 40, 2 * MIB / sector);
	put_header_crc(sector);
	ok(reads(0) && is_structure(MIB, MIB + 16384) && table.warning && strstr(table.warning, "past the first MiB"),
	   "entries past the first MiB: %s", table.warning ? table.warning : "");
	put_gpt(sector);
	reader.bytes = 10 * MIB;
	ok(!reads(0) && fault.code == CODE_UNSUPPORTED, "a disk that was cut off: %s", fault.text);
}

// A small one of 512 bytes, between the sectors of one of 4096.
static void put_small_gpt(bool first, bool copy) {
	struct gpt gpt = {.sector = 512,
			  .disk_sectors = reader.bytes / 512,
			  .own = 1,
			  .other = reader.bytes / 512 - 1,
			  .entries = 2,
			  .entry_count = 16,
			  .entry_bytes = 128,
			  .first_usable = 64,
			  .last_usable = reader.bytes / 512 - 64,
			  .revision = {0, 0, 1, 0}};
	uint8_t entries[16 * 128] = {0};

	put_partition(entries, 0, 2048, 4095);
	gpt.entries_crc = gpt_crc(entries, sizeof(entries));
	if (first) {
		memcpy(disk + 1024, entries, sizeof(entries));
		gpt_write(&gpt, false, disk + 512);
	}
	if (copy) {
		memcpy(disk + gpt_entries_at(&gpt, true) * 512, entries, sizeof(entries));
		gpt_write(&gpt, true, disk + reader.bytes - 512);
	}
}

// Which sectors a file has is not written anywhere: what is left of another time must not decide.
static void test_two_sizes(void) {
	begin(16 * MIB);
	put_gpt(4096);
	put_small_gpt(false, true);
	ok(reads(0) && table.sector == 4096 && table.partition_count == 2, "a first one before a copy of 512: %s",
	   fault.text);
	begin(16 * MIB);
	put_gpt(4096);
	put_small_gpt(true, true);
	ok(!reads(0) && fault.code == CODE_UNSUPPORTED && strstr(fault.text, "sector="), "two first ones: %s",
	   fault.text);
	ok(reads(512) && table.partition_count == 1 && reads(4096) && table.partition_count == 2, "the size is given");
	memset(disk + 512, 0, 512);
	memset(disk + 4096, 0, 512);
	ok(!reads(0) && strstr(fault.text, "sector="), "two copies: %s", fault.text);
	memset(disk + 16 * MIB - 512, 0, 512);
	ok(reads(0) && table.sector == 4096 && table.warning, "one copy: %s", fault.text);
}

static void test_hybrid(void) {
	begin(16 * MIB);
	put_gpt(512);
	put_entry(0, 1, 0x0c, 4096, 2048);
	ok(reads(0) && table.kind == TABLE_GPT && table.partition_count == 2, "a hybrid table: its GPT counts");
	ok(is_opaque(0, 0, 0) && table.opaque.count == 0, "the entry of a partition of the GPT says nothing new");
	put_entry(0, 1, 0x0c, 4096, 2000);
	ok(reads(0) && is_opaque(0, 4096 * 512, 6096 * 512), "another one is kept");
}

static void test_odd(void) {
	begin(64 * MIB);
	put_entry(0, 0, 0, 0, 1 << 20);
	put_entry(0, 1, 0xef, 2048, 2048);
	ok(reads(0) && table.partition_count == 1 && is_opaque(0, 0, 64 * MIB), "an entry without a type: %s",
	   fault.text);
	put_entry(0, 0, 0x42, 8192, 4096);
	ok(reads(0) && table.partition_count == 1 && is_opaque(0, 8192 * 512, 12288 * 512), "a dynamic disk");
	put_entry(0, 0, 0x05, 8192, 4096);
	ok(reads(0) && table.partition_count == 1 && is_opaque(0, 8192 * 512, 12288 * 512) && table.warning,
	   "an extended partition without a signature: %s", table.warning ? table.warning : "");
	put_entry(8192 * 512, 0, 0x83, 1, 10);
	put_entry(8192 * 512, 2, 0x83, 20, 10);
	ok(reads(0) && table.partition_count == 1 && is_opaque(0, 8192 * 512, 12288 * 512), "two partitions in a link");
	put_entry(8192 * 512, 2, 0, 0, 0);
	ok(reads(0) && table.partition_count == 2 && table.opaque.count == 0, "one");
}

int main(void) {
	test_none();
	test_mbr();
	test_logical();
	test_gpt(512);
	test_gpt(4096);
	test_two_sizes();
	test_hybrid();
	test_odd();
	table_free(&table);
	free(disk);
	return tap_done();
}
