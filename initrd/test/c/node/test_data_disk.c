// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "disk/gpt.h"
#include "disk/memory_disk.h"
#include "node/data_disk.h"
#include "tap.h"

#define MIB ((uint64_t)1 << 20)
#define TABLE_BYTES (64u << 10) // at each end: more than any table takes

static struct memory_disk m;
static struct device device;
static struct fault fault;
static struct data_disk data;

static struct data_disk data_of(const char *name, const char *id, const char *serial) {
	struct data_disk ret = {0};
	struct disk disk = {0};

	snprintf(ret.name, sizeof(ret.name), "%s", name);
	guid_parse(id, ret.id);
	snprintf(disk.serial, sizeof(disk.serial), "%s", serial);
	snprintf(disk.path, sizeof(disk.path), "pci-1");
	data_disk_name(&ret, &disk);
	return ret;
}

static void begin(uint64_t bytes, uint32_t sector) {
	free(m.data);
	device = memory_open(&m, bytes, sector);
	memset(m.data, 0, bytes);
	fault = (struct fault){0};
	data = data_of("logs", "0b5f6c1e-7a54-8c1f-9a55-1f3a0b8f6f5e", "S1");
}

static int look(void) {
	fault = (struct fault){0};
	return data_disk_look(&device, &data, &fault);
}

// Made at first, then looked at: the disk has data in its partition.
static void begin_in_use(uint32_t sector) {
	begin(80 * MIB, sector);
	if (data_disk_make(&device, &data, &fault) < 0)
		ok(false, "made: %s", fault.text);
	memset(m.data + 40 * MIB, 0x5a, MIB);
	m.changes = 0;
}

static bool refuses(const char *words) {
	unsigned before = m.changes;
	return look() < 0 && fault.code == CODE_DISK && strstr(fault.text, words) && m.changes == before;
}

static void test_guid(void) {
	static const uint8_t stored[] = "\xaf\x3d\xc6\x0f\x83\x84\x72\x47\x8e\x79\x3d\x69\xd8\x47\x7d\xe4";
	uint8_t guid[GUID_BYTES];
	char text[GUID_TEXT];

	guid_parse("0fc63daf-8483-4772-8e79-3d69d8477de4", guid);
	ok(!memcmp(guid, stored, GUID_BYTES), "a GUID as it is stored");
	guid_write(guid, text);
	same(text, "0fc63daf-8483-4772-8e79-3d69d8477de4", "and back");
}

static void test_name(void) {
	struct data_disk a = data_of("a", "00000000-0000-8000-8000-000000000001", "S1");
	struct data_disk b = data_of("a", "00000000-0000-8000-8000-000000000002", "S1");
	struct data_disk c = data_of("a", "00000000-0000-8000-8000-000000000001", "S2"), again = a;
	struct disk moved = {.serial = "S1", .path = "pci-2"}, unnamed = {.path = "pci-2"};

	ok(memcmp(a.part, b.part, GUID_BYTES) && memcmp(a.part, c.part, GUID_BYTES), "each disk has its own partition");
	data_disk_name(&again, &moved);
	ok(!memcmp(a.part, again.part, GUID_BYTES), "the same in another slot");
	data_disk_name(&again, &unnamed);
	ok(memcmp(a.part, again.part, GUID_BYTES) != 0, "without a serial and a WWN its place counts");
}

static void test_made_once(uint32_t sector, uint64_t bytes) {
	struct gpt gpt;
	uint64_t start = 0, end = 0, sectors = bytes / sector;
	uint8_t part[GUID_BYTES];
	unsigned changes;

	begin(bytes, sector);
	memcpy(part, data.part, GUID_BYTES);
	ok(look() == 0, "blank, sectors of %u: %s", sector, fault.text);
	ok(m.changes == 0, "looking writes nothing");
	ok(data_disk_make(&device, &data, &fault) == 0, "made: %s", fault.text);
	ok(gpt_read(m.data + sector, sector, 1, sectors, &gpt) == 0 &&
		   gpt_check_entries(&gpt, m.data + 2 * sector) == 0,
	   "the table");
	ok(gpt_read(m.data + bytes - sector, sector, sectors - 1, sectors, &gpt) == 0 &&
		   gpt_check_entries(&gpt, m.data + gpt.entries * sector) == 0,
	   "its copy");
	(void)gpt_partition(&gpt, m.data + 2 * sector, 0, &start, &end);
	ok(start * sector == MIB && (end + 1) * sector == bytes / MIB * MIB - (bytes % MIB < TABLE_BYTES ? MIB : 0),
	   "the partition: %llu to %llu", (unsigned long long)start, (unsigned long long)end);
	ok(is_zero(m.data + MIB, bytes - 2 * MIB), "nothing else is written");
	changes = m.changes;
	memset(data.part, 0, GUID_BYTES);
	ok(look() == 1 && !memcmp(part, data.part, GUID_BYTES), "found: %s", fault.text);
	memset(m.data + 20 * MIB, 0x5a, MIB);
	ok(look() == 1 && m.changes == changes, "and with data in it left unchanged");
}

static void test_others(void) {
	struct data_disk mine;

	begin_in_use(512);
	mine = data;
	data = data_of("logs", "0b5f6c1e-7a54-8c1f-9a55-1f3a0b8f6f5f", "S1");
	ok(refuses("another partition table"), "a data disk of another node: %s", fault.text);
	data = mine;
	memcpy(data.name, "logs2", 6);
	ok(refuses("another partition table"), "another name: %s", fault.text);
	data = mine;
	put_le64(m.data + 2 * 512 + 128 + GPT_ENTRY_START, 60 * MIB / 512);
	m.data[2 * 512 + 128] = 1;
	ok(refuses("not blank"), "a second partition, and a wrong checksum: %s", fault.text);
	begin_in_use(512);
	memset(m.data + 512, 0, 512);
	ok(refuses("not blank"), "a table that is damaged, with data behind it: %s", fault.text);
	begin_in_use(512);
	memset(m.data, 0, 17408);
	ok(refuses("not blank"), "a table of which the copy is left, with data behind it: %s", fault.text);
	begin_in_use(512);
	memset(m.data + m.bytes - MIB, 0, MIB);
	ok(look() == 1 && m.changes == 0, "without the copy it is found");
}

static void test_not_blank(void) {
	static const uint64_t places[] = {
		0, 511, 512, 4096, 17408, MIB, 8 * MIB, 16 * MIB - 1, 64 * MIB, 80 * MIB - 17000, 80 * MIB - 1};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		begin(80 * MIB, 512);
		m.data[places[i]] = 1;
		ok(refuses("not blank"), "one byte at %llu: %s", (unsigned long long)places[i], fault.text);
	}
	begin(60 * MIB, 512);
	m.data[31 * MIB + 77] = 1;
	ok(refuses("not blank"), "one byte in the middle of a small disk: %s", fault.text);
	begin(80 * MIB, 512);
	m.bad_from = 5 * MIB;
	m.bad_to = 5 * MIB + 512;
	ok(refuses("cannot be read"), "a range that cannot be read: %s", fault.text);
	begin(15 * MIB, 512);
	ok(refuses("less than 16 MiB"), "too small: %s", fault.text);
	begin(80 * MIB, 520);
	ok(look() < 0 && fault.code == CODE_UNSUPPORTED, "odd sectors: %s", fault.text);
}

// Whatever sectors of the table a power cut leaves, the next boot completes it, or finds it whole.
static void test_torn(uint32_t sector) {
	static uint8_t head[TABLE_BYTES], tail[TABLE_BYTES];
	unsigned completed = 0, found = 0, wrong = 0;
	uint64_t x = 88172645463325252u;

	begin(60 * MIB, sector);
	data_disk_make(&device, &data, &fault);
	memcpy(head, m.data, TABLE_BYTES);
	memcpy(tail, m.data + m.bytes - TABLE_BYTES, TABLE_BYTES);
	for (unsigned i = 0; i < 60; i++) {
		memcpy(m.data, head, TABLE_BYTES);
		memcpy(m.data + m.bytes - TABLE_BYTES, tail, TABLE_BYTES);
		for (uint64_t at = 0; at < TABLE_BYTES; at += sector) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			if (x & 1)
				memset(m.data + at, 0, sector);
			if (x & 2)
				memset(m.data + m.bytes - TABLE_BYTES + at, 0, sector);
		}
		int r = look();
		found += r == 1;
		completed += r == 0 && data_disk_make(&device, &data, &fault) == 0 && look() == 1;
		wrong += r < 0 || (r == 0 && memcmp(m.data, head, TABLE_BYTES) != 0);
	}
	ok(completed > 0 && completed + found == 60 && wrong == 0, "sectors of %u: completed %u, found %u: %s", sector,
	   completed, found, fault.text);
}

// The same by the order of the writes.
static void test_power_cut(void) {
	for (unsigned n = 1; n <= 3; n++) {
		begin(60 * MIB, 512);
		m.dies_after = n;
		ok((data_disk_make(&device, &data, &fault) < 0) == (n < 3), "power cut after %u writes: %s", n,
		   fault.text);
		m.dies_after = 0;
		ok(look() == (n == 3), "then: %s", fault.text);
		ok(data_disk_make(&device, &data, &fault) == 0 && look() == 1, "and again: %s", fault.text);
	}
	begin(60 * MIB, 512);
	m.stuck = true;
	m.stuck_at = 513;
	ok(data_disk_make(&device, &data, &fault) < 0 && fault.code == CODE_INTEGRITY,
	   "a disk that does not hold it: %s", fault.text);
}

static void test_grown_disk(void) {
	struct device larger;
	struct memory_disk more;

	begin_in_use(512);
	larger = memory_open(&more, 100 * MIB, 512);
	memset(more.data, 0, more.bytes);
	memcpy(more.data, m.data, m.bytes);
	ok(data_disk_look(&larger, &data, &fault) == 1 && more.changes == 0, "a disk that has grown since: %s",
	   fault.text);
	free(more.data);
}

int main(void) {
	test_guid();
	test_name();
	test_made_once(512, 80 * MIB);
	test_made_once(4096, 80 * MIB);
	test_made_once(512, 33 * MIB + 512 * 1001);
	test_others();
	test_not_blank();
	test_torn(512);
	test_torn(4096);
	test_power_cut();
	test_grown_disk();
	free(m.data);
	return tap_done();
}
