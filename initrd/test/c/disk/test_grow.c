// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "disk/gpt.h"
#include "disk/grow.h"
#include "disk/mbr.h"
#include "memory_disk.h"
#include "tap.h"

#define MIB ((uint64_t)1 << 20)

static struct memory_disk m;
static struct device device;
static struct grown grown;
static struct fault fault;
static uint64_t limit; // of the partition that ends last

static uint64_t limit_of(void *context, uint64_t start, uint64_t end) { return start < end ? *(uint64_t *)context : 0; }

static void begin(uint64_t bytes, uint32_t sector) {
	free(m.data);
	device = memory_open(&m, bytes, sector);
	memset(m.data, 0, bytes);
	fault = (struct fault){0};
	grown = (struct grown){0};
	limit = UINT64_MAX;
}

static void put_mbr(unsigned i, uint8_t type, uint32_t start, uint32_t count) {
	uint8_t *e = m.data + 446 + 16 * i;
	e[4] = type;
	put_le32(e + 8, start);
	put_le32(e + 12, count);
	m.data[510] = 0x55;
	m.data[511] = 0xaa;
}

static void put_entry(uint8_t *entries, unsigned i, uint64_t start, uint64_t end) {
	memset(entries + 128 * i, 0x11, 32);
	put_le64(entries + 128 * i + 32, start);
	put_le64(entries + 128 * i + 40, end);
}

// As an image of `image` bytes has it, written to a larger disk: two partitions, the second one ends last but has
// number 1.
static void put_gpt(uint64_t image) {
	struct gpt gpt = {.sector = device.sector,
			  .disk_sectors = image / device.sector,
			  .own = 1,
			  .other = image / device.sector - 1,
			  .entries = 2,
			  .entry_count = 128,
			  .entry_bytes = 128,
			  .revision = {0, 0, 1, 0}};
	uint64_t table = 128 * 128 / device.sector, mib = MIB / device.sector;
	uint8_t *entries = m.data + 2 * device.sector;

	gpt.first_usable = 2 + table;
	gpt.last_usable = gpt.disk_sectors - table - 2;
	put_entry(entries, 1, mib, 2 * mib - 1);
	put_entry(entries, 0, 2 * mib, image / MIB * mib - mib - 1);
	gpt.entries_crc = gpt_crc(entries, 128 * 128);
	gpt_write(&gpt, false, m.data + device.sector);
	gpt_write(&gpt, true, m.data + gpt.other * device.sector);
	memcpy(m.data + gpt_entries_at(&gpt, true) * device.sector, entries, 128 * 128);
	put_mbr(0, 0xee, 1, (uint32_t)gpt.disk_sectors - 1);
}

static bool reads(uint64_t lba, struct gpt *ret) {
	return gpt_read(m.data + lba * device.sector, device.sector, lba, m.bytes / device.sector, ret) == 0 &&
	       gpt_check_entries(ret, m.data + ret->entries * device.sector) == 0;
}

static void test_gpt(uint32_t sector) {
	uint64_t sectors = 64 * MIB / sector;
	struct gpt gpt;
	uint8_t *before;

	begin(64 * MIB, sector);
	put_gpt(20 * MIB);
	ok(grow_disk(&device, limit_of, &limit, &grown, &fault) == 0, "GPT, sectors of %u: %s", sector, fault.text);
	ok(grown.last == 1 && grown.bytes == 61 * MIB, "the partition that ends last has grown: %u, %llu", grown.last,
	   (unsigned long long)grown.bytes);
	ok(reads(1, &gpt) && gpt.other == sectors - 1, "first header");
	ok(get_le64(m.data + 2 * sector + 40) == 63 * MIB / sector - 1, "ends at a multiple of 1 MiB");
	ok(reads(sectors - 1, &gpt) && gpt.other == 1, "copy at the disk's end");
	ok(get_le32(m.data + 446 + 12) == sectors - 1, "protective entry");
	before = malloc(m.bytes);
	memcpy(before, m.data, m.bytes);
	ok(grow_disk(&device, limit_of, &limit, &grown, &fault) == 0 && grown.bytes == 0 &&
		   !memcmp(before, m.data, m.bytes),
	   "a second time changes nothing");
	free(before);
}

static void test_gpt_damaged(void) {
	struct gpt gpt;

	begin(64 * MIB, 512);
	put_gpt(64 * MIB);
	m.data[512 + 60] ^= 1;
	ok(grow_disk(&device, limit_of, &limit, &grown, &fault) == 0 && reads(1, &gpt),
	   "a damaged first header is made again from the copy: %s", fault.text);
	begin(64 * MIB, 512);
	put_gpt(20 * MIB);
	m.data[1024 + 128] ^= 1;
	ok(grow_disk(&device, limit_of, &limit, &grown, &fault) < 0 && fault.code == CODE_INTEGRITY,
	   "damaged entries, no copy at the end: %s", fault.text);
	begin(64 * MIB, 512);
	put_gpt(20 * MIB);
	ok(grow_disk(&device, NULL, NULL, &grown, &fault) == 0 && grown.bytes == 0 && reads(64 * MIB / 512 - 1, &gpt),
	   "grow=none moves only the copy");
	begin(64 * MIB, 512);
	put_gpt(20 * MIB);
	m.fail_at = 64 * MIB - 512;
	ok(grow_disk(&device, limit_of, &limit, &grown, &fault) < 0 && fault.code == CODE_FAILED, "a write error: %s",
	   fault.text);
	m.fail_at = UINT64_MAX;
	ok(reads(1, &gpt), "leaves the first header whole");
}

// An image for sectors of 512 bytes on a disk of 4096: nothing could start from it.
static void test_other_sectors(void) {
	begin(64 * MIB, 512);
	put_gpt(20 * MIB);
	device.sector = 4096;
	ok(grow_disk(&device, limit_of, &limit, &grown, &fault) < 0 && fault.code == CODE_UNSUPPORTED &&
		   m.written_blocks == 0,
	   "other sectors: %s", fault.text);
}

static void test_mbr(void) {
	begin(64 * MIB, 512);
	put_mbr(0, 0x83, 2048, 4096);
	put_mbr(2, 0x83, 8192, 4096);
	ok(grow_disk(&device, limit_of, &limit, &grown, &fault) == 0 && grown.last == 3 && grown.bytes,
	   "MBR: the last primary partition");
	ok(get_le32(m.data + 446 + 32 + 12) == 64 * MIB / 512 - 8192, "reaches to the disk's end");
	ok(grow_disk(&device, limit_of, &limit, &grown, &fault) == 0 && grown.bytes == 0, "once");
	begin(64 * MIB, 512);
	put_mbr(0, 0x83, 2048, 4096);
	put_mbr(1, 0x05, 8192, 4096);
	ok(grow_disk(&device, limit_of, &limit, &grown, &fault) == 0 && grown.bytes == 0 && m.written_blocks == 0,
	   "not an extended one");
	begin(64 * MIB, 512);
	ok(grow_disk(&device, limit_of, &limit, &grown, &fault) == 0 && m.written_blocks == 0, "no table: nothing");
	memcpy(m.data + 446, "Not a bootable disk", 19);
	m.data[510] = 0x55;
	m.data[511] = 0xaa;
	ok(grow_disk(&device, limit_of, &limit, &grown, &fault) == 0 && m.written_blocks == 0,
	   "a filesystem's boot sector: nothing");
	begin(64 * MIB, 512);
	put_gpt(20 * MIB);
	put_mbr(1, 0x83, 2048, 4096);
	ok(grow_disk(&device, limit_of, &limit, &grown, &fault) == 0 &&
		   get_le32(m.data + 446 + 12) == 20 * MIB / 512 - 1,
	   "a hybrid MBR is left alone");
}

// What is used behind the partition is not given to it.
static void test_limit(void) {
	struct gpt gpt;

	begin(64 * MIB, 512);
	put_gpt(20 * MIB);
	limit = 40 * MIB + 4096;
	ok(grow_disk(&device, limit_of, &limit, &grown, &fault) == 0 && grown.bytes == 38 * MIB &&
		   grown.end == 19 * MIB,
	   "GPT: up to the limit, a multiple of 1 MiB: %llu", (unsigned long long)grown.bytes);
	ok(get_le64(m.data + 1024 + 40) == 40 * MIB / 512 - 1 && reads(64 * MIB / 512 - 1, &gpt), "in both copies");
	limit = 19 * MIB + 8192;
	ok(grow_disk(&device, limit_of, &limit, &grown, &fault) == 0 && grown.bytes == 0, "never smaller");
	begin(64 * MIB, 512);
	put_mbr(2, 0x83, 8192, 4096);
	limit = 30 * MIB + 512;
	ok(grow_disk(&device, limit_of, &limit, &grown, &fault) == 0 && grown.bytes == 26 * MIB &&
		   get_le32(m.data + 446 + 32 + 12) == 26 * MIB / 512,
	   "MBR: up to the limit");
	begin(64 * MIB, 512);
	put_mbr(2, 0x83, 8192, 4096);
	limit = 0;
	ok(grow_disk(&device, limit_of, &limit, &grown, &fault) == 0 && grown.bytes == 0 && m.written_blocks == 0 &&
		   grown.room == 64 * MIB,
	   "none: it stays");
}

int main(void) {
	same(gpt_crc((const uint8_t *)"123456789", 9) == 0xcbf43926 ? "right" : "wrong", "right",
	     "CRC of the check string");
	test_gpt(512);
	test_gpt(4096);
	test_gpt_damaged();
	test_other_sectors();
	test_mbr();
	test_limit();
	free(m.data);
	return tap_done();
}
