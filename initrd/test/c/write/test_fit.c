// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "disk/gpt.h"
#include "image/memory_image.h"
#include "tap.h"
#include "write/fit.h"

#define MIB ((uint64_t)1 << 20)
#define IMAGE (20 * MIB)
#define TABLE (128 * 128) // bytes of entries

static struct memory_disk m; // what the image was made of
static struct index image;
static struct device disk; // where it goes
static struct fit fit;
static struct fault fault;
static uint8_t head[CHUNK];
static uint32_t sector;

static void put_entry(uint8_t *entry, uint64_t start, uint64_t end) {
	memset(entry, 0x11, 32);
	put_le64(entry + 32, start / sector);
	put_le64(entry + 40, end / sector - 1);
}

static void put_mbr(uint8_t type, uint64_t count) {
	m.data[446 + 4] = type;
	put_le32(m.data + 446 + 8, 1);
	put_le32(m.data + 446 + 12, (uint32_t)count);
	m.data[510] = 0x55;
	m.data[511] = 0xaa;
}

static void put_gpt(uint64_t end) {
	struct gpt gpt = {.sector = sector,
			  .disk_sectors = IMAGE / sector,
			  .own = 1,
			  .other = IMAGE / sector - 1,
			  .entries = 2,
			  .entry_count = 128,
			  .entry_bytes = 128,
			  .revision = {0, 0, 1, 0}};
	uint8_t *entries = m.data + 2 * sector;

	gpt.first_usable = 2 + TABLE / sector;
	gpt.last_usable = gpt.disk_sectors - TABLE / sector - 2;
	put_entry(entries, MIB, 2 * MIB);
	put_entry(entries + 128, 2 * MIB, end);
	gpt.entries_crc = gpt_crc(entries, TABLE);
	gpt_write(&gpt, false, m.data + sector);
	gpt_write(&gpt, true, m.data + gpt.other * sector);
	memcpy(m.data + gpt_entries_at(&gpt, true) * sector, entries, TABLE);
	put_mbr(0xee, gpt.disk_sectors - 1);
}

// A disk of 20 MiB with used blocks from 1 MiB to `used`; its second partition ends at `end`.
static void begin(uint32_t sector_bytes, uint64_t used, uint64_t end) {
	uint64_t copy = TABLE + sector_bytes;

	fit_free(&fit);
	free(m.data);
	index_free(&image);
	sector = sector_bytes;
	disk = memory_open(&m, IMAGE, sector);
	memset(m.data, 0, 2 * MIB);
	memset(m.data + (IMAGE - copy) / GRANULE * GRANULE, 0, (IMAGE - copy) % GRANULE);
	put_gpt(end);
	image = image_begin(IMAGE, sector);
	image_use(&image, 0, 2 * sector + TABLE);
	image_use(&image, MIB, used - MIB);
	image_use(&image, IMAGE - copy, copy);
	image_end(&image, &m);
	memcpy(head, m.data, sizeof(head));
	fault = (struct fault){0};
	fit = (struct fit){0};
}

static int read_image(void *context, uint64_t at, size_t size, uint8_t *data, struct fault *ignored) {
	(void)context, (void)ignored;
	memcpy(data, m.data + at, size);
	return 0;
}

static bool goes(uint64_t bytes) {
	disk.bytes = bytes;
	return fit_table(&image, &disk, head, read_image, NULL, &fit, &fault) == 0;
}

static bool reads(const uint8_t *header, const uint8_t *entries, uint64_t lba, struct gpt *ret) {
	return gpt_read(header, sector, lba, disk.bytes / sector, ret) == 0 && gpt_check_entries(ret, entries) == 0;
}

static void check_tables(const char *what) {
	struct gpt first = {0}, copy = {0};
	uint64_t last = disk.bytes / sector - 1;

	ok(reads(head + sector, head + 2 * sector, 1, &first) && first.other == last, "%s: first header", what);
	ok(fit.copy && fit.copy_at + fit.copy_size == disk.bytes &&
		   reads(fit.copy + fit.copy_size - sector, fit.copy, last, &copy) && copy.other == 1,
	   "%s: copy", what);
	ok(copy.entries * sector == fit.copy_at && first.last_usable == copy.entries - 1 &&
		   copy.last_usable == first.last_usable,
	   "%s: usable up to the copy", what);
	ok(get_le32(head + 446 + 12) == last, "%s: protective entry", what);
}

static void test_same(void) {
	uint8_t before[CHUNK];

	begin(512, 10 * MIB, 19 * MIB);
	memcpy(before, head, CHUNK);
	ok(goes(IMAGE) && fit.limit == IMAGE && !fit.copy && fit.old_size == 0 && !memcmp(before, head, CHUNK),
	   "the same size: nothing");
	ok(!fit_changes(&fit, &image, &image.chunks[0]), "and every chunk is as the index has it");
}

static void test_larger(uint32_t bytes) {
	const struct chunk *last;
	static uint8_t data[CHUNK];

	begin(bytes, 10 * MIB, 19 * MIB);
	last = &image.chunks[image.chunk_count - 1];
	ok(goes(30 * MIB) && fit.limit == IMAGE, "larger, sectors of %u: %s", bytes, fault.text);
	check_tables("larger");
	ok(get_le64(head + 2 * sector + 128 + 40) == 19 * MIB / sector - 1, "no partition has grown");
	memcpy(data, m.data + last->offset, CHUNK);
	fit_chunk(&fit, &image, last, data);
	ok(!memcmp(data, m.data + last->offset, CHUNK - TABLE - sector), "bytes before the old copy are kept");
	ok(data[CHUNK - TABLE - sector] == 0 &&
		   !memcmp(data + CHUNK - TABLE - sector, data + CHUNK - TABLE - sector + 1, TABLE + sector - 1),
	   "the old copy is zeros");
	ok(fit_changes(&fit, &image, last) && fit_changes(&fit, &image, &image.chunks[0]) &&
		   !fit_changes(&fit, &image, &image.chunks[1]),
	   "the first and the last chunk are not as the index has them");
	begin(bytes, 10 * MIB, 19 * MIB);
	ok(goes(IMAGE + sector), "by one sector: %s", fault.text);
	check_tables("by one sector");
}

static void test_smaller(uint32_t bytes) {
	begin(bytes, 10 * MIB, 12 * MIB);
	ok(goes(15 * MIB) && fit.limit == 15 * MIB, "smaller, sectors of %u: %s", bytes, fault.text);
	check_tables("smaller");
	begin(bytes, 10 * MIB, 19 * MIB);
	ok(goes(15 * MIB), "smaller, the last partition's free end is cut: %s", fault.text);
	check_tables("cut");
	ok(get_le64(head + 2 * sector + 128 + 40) == fit.copy_at / sector - 1, "it ends at the copy");
	begin(bytes, 10 * MIB, 19 * MIB);
	ok(goes(10 * MIB + TABLE + sector), "just large enough: %s", fault.text);
	check_tables("just large enough");
	begin(bytes, 10 * MIB, 19 * MIB);
	ok(!goes(10 * MIB + TABLE) && fault.code == CODE_DISK, "a sector too small");
	ok(!memcmp(head, m.data, sizeof(head)), "leaves the head alone");
}

static void test_missing(void) {
	begin(512, 10 * MIB, 12 * MIB);
	ok(!goes(9 * MIB) && fault.code == CODE_DISK, "too small");
	same(fault.text,
	     "disk memory has 9437184 bytes, the image's used blocks reach to 10485760 and the copy of its GPT takes "
	     "16896: 1065472 bytes too small",
	     "says by how much");
	begin(512, 10 * MIB, 12 * MIB);
	put_mbr(0x83, 100);
	memcpy(head, m.data, sizeof(head));
	ok(!goes(IMAGE - 512) && fault.code == CODE_DISK, "no GPT: what is used at the end counts");
	same(fault.text,
	     "disk memory has 20971008 bytes, the image's used blocks reach to 20971520: 512 bytes too small",
	     "to the byte");
	ok(goes(IMAGE + 512) && !fit.copy && fit.limit == IMAGE && fit.old_size == 0, "a larger disk: nothing moves");
	ok(fit_table(&image, &disk, NULL, read_image, NULL, &fit, &fault) == 0 && !fit.copy,
	   "nor in an image without a first chunk");
}

// A partition that shares a granule with the copy, as most tools make them.
static void test_shared_granule(void) {
	uint64_t end = IMAGE - TABLE - 512;

	begin(512, end, end);
	ok(goes(IMAGE + 512), "a partition up to the copy, one sector more: %s", fault.text);
	check_tables("up to the copy");
	begin(512, end, end);
	ok(!goes(IMAGE - 512) && strstr(fault.text, " 512 bytes too small"), "one sector less: %s", fault.text);
	begin(512, IMAGE - 40 * 512, IMAGE - 40 * 512);
	ok(goes(IMAGE - 7 * 512), "a granule that the copy has for itself does not count: %s", fault.text);
	check_tables("for itself");
}

// What the header calls its copy is none: it is kept like any other used bytes, and needs room.
static void test_no_copy(void) {
	static uint8_t data[CHUNK];
	const struct chunk *last;

	for (unsigned fault_of = 0; fault_of < 3; fault_of++) {
		begin(512, 10 * MIB, 12 * MIB);
		if (fault_of == 0)
			memset(m.data + IMAGE - TABLE - 512, 0xa7, TABLE + 512);
		else // its CRC, or that of its entries
			m.data[fault_of == 1 ? IMAGE - 512 + 60 : IMAGE - TABLE - 512 + 60] ^= 1;
		last = &image.chunks[image.chunk_count - 1];
		ok(goes(30 * MIB) && fit.old_size == 0 && fit.spare_to == 0, "no copy, %u: %s", fault_of, fault.text);
		memcpy(data, m.data + last->offset, CHUNK);
		fit_chunk(&fit, &image, last, data);
		ok(!memcmp(data, m.data + last->offset, CHUNK) && !fit_changes(&fit, &image, last), "is kept");
		ok(fit_used_from(&fit, &image, 12 * MIB) == (IMAGE - TABLE - 512) / GRANULE * GRANULE, "is used");
		begin(512, 10 * MIB, 12 * MIB);
		m.data[IMAGE - 512 + 60] ^= 1;
		ok(!goes(IMAGE + 512) && fault.code == CODE_DISK, "and leaves no room: %s", fault.text);
	}
}

// The granule in which the copy starts or ends holds another byte too, which no partition has.
static void test_beside_copy(void) {
	begin(512, 10 * MIB, 12 * MIB);
	m.data[IMAGE - TABLE - 512 - 1] = 7;
	ok(!goes(IMAGE - 512 - 512) && fault.code == CODE_DISK, "a byte before the copy: %s", fault.text);
	ok(goes(30 * MIB) && fit_used_from(&fit, &image, 12 * MIB) == (IMAGE - TABLE - 512) / GRANULE * GRANULE,
	   "is used");
	begin(512, 10 * MIB, 12 * MIB);
	ok(goes(30 * MIB) && fit_used_from(&fit, &image, 12 * MIB) == 0, "the copy alone is not");
	ok(fit_used_from(&fit, &image, 2 * MIB) == 2 * MIB && fit_used_from(&fit, &image, MIB / 2) == MIB,
	   "others are");
}

static void test_refused(void) {
	begin(512, 10 * MIB, 19 * MIB);
	disk.sector = 4096;
	ok(fit_check(&image, &disk, &fault) < 0 && fault.code == CODE_UNSUPPORTED, "other sectors: %s", fault.text);
	ok(!goes(IMAGE) && fault.code == CODE_UNSUPPORTED, "whatever the size");
	begin(512, 10 * MIB, 19 * MIB);
	ok(fit_check(&image, &disk, &fault) == 0, "its own sectors");
	head[512 + 60] ^= 1;
	ok(goes(IMAGE), "a damaged GPT goes on a disk of its own size");
	ok(!goes(30 * MIB) && fault.code == CODE_UNSUPPORTED, "on no other: %s", fault.text);
	begin(512, 10 * MIB, 19 * MIB);
	head[1024 + 60] ^= 1;
	ok(!goes(30 * MIB) && fault.code == CODE_UNSUPPORTED, "damaged entries: %s", fault.text);
	begin(512, 4 * MIB, 19 * MIB);
	put_entry(m.data + 1024 + 128, 15 * MIB, 19 * MIB);
	put_le32(m.data + 512 + 88, gpt_crc(m.data + 1024, TABLE));
	put_le32(m.data + 512 + 16, 0);
	put_le32(m.data + 512 + 16, gpt_crc(m.data + 512, 92));
	memcpy(head, m.data, sizeof(head));
	ok(!goes(10 * MIB) && fault.code == CODE_DISK && strstr(fault.text, "partition 2 starts past its end"),
	   "an empty partition is not dropped: %s", fault.text);
}

int main(void) {
	test_same();
	test_larger(512);
	test_larger(4096);
	test_smaller(512);
	test_smaller(4096);
	test_missing();
	test_shared_granule();
	test_no_copy();
	test_beside_copy();
	test_refused();
	fit_free(&fit);
	free(m.data);
	index_free(&image);
	return tap_done();
}
