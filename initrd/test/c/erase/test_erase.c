// SPDX-License-Identifier: Apache-2.0
// Levels, what a disk can lie about, and what is read back.
#include "drive/method.h"
#include "erase/erase.h"
#include "erase/level.h"
#include "erase/readback.h"
#include "disk/memory_disk.h"
#include "tap.h"

#define MIB ((uint64_t)1 << 20)

static struct memory_disk m;
static struct device device;
static struct progress progress;
static struct erase erase;
static struct fault fault;

static bool zero(uint64_t offset, uint64_t size) {
	return m.data[offset] == 0 && !memcmp(m.data + offset, m.data + offset + 1, size - 1);
}

static void begin(uint64_t bytes, enum erase_level level) {
	free(m.data);
	device = memory_open(&m, bytes, 512);
	erase = (struct erase){.level = level};
	fault = (struct fault){0};
}

static int run(void) { return erase_disk(&device, &erase, &progress, &fault); }

static void test_empty(void) {
	begin(100 * MIB, ERASE_EMPTY);
	ok(run() == 0 && zero(0, m.bytes), "discard that zeroes is enough");
	ok(m.zero_calls == 0 && m.written_blocks == 0 && m.syncs == 1, "nothing is written, and the disk is flushed");
	same(erase.method, "discard", "the method is named");
	ok(erase.samples == 1024 && erase.read >= 32 * MIB + 1024 * 4096, "samples and edges");
	begin(100 * MIB, ERASE_EMPTY);
	m.discard_lies = true;
	ok(run() == 0 && zero(0, m.bytes) && m.zero_calls > 0, "discard that does nothing is found out");
	same(erase.method, "zeros", "the method is named");
	begin(100 * MIB, ERASE_EMPTY);
	m.can_discard = m.can_zero = false;
	ok(run() == 0 && zero(0, m.bytes) && m.written_blocks > 0, "zeros are written where the disk can do neither");
	begin(3 * MIB + 512, ERASE_EMPTY);
	m.can_discard = m.can_zero = false;
	m.short_transfers = m.interrupted = true;
	ok(run() == 0 && zero(0, m.bytes), "short and interrupted transfers");
	ok(progress.done == m.bytes && erase.read == m.bytes && erase.samples == 0, "a small disk is read as a whole");
	begin(40 * MIB, ERASE_EMPTY);
	m.stuck = true;
	m.stuck_at = 20 * MIB + 7;
	ok(run() < 0 && fault.code == CODE_INTEGRITY && strstr(fault.text, "20971527"), "a byte that stays: %s",
	   fault.text);
}

// Units that do not divide the calls: none keeps old bytes between two of them.
static void test_discard_units(void) {
	static const uint64_t units[] = {192 << 10, 1536 << 10, 42 << 20};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		begin((1100 * MIB / units[i]) * units[i], ERASE_EMPTY);
		m.discard_unit = units[i];
		ok(run() == 0 && zero(0, m.bytes), "no old byte with units of %llu", (unsigned long long)units[i]);
		same(erase.method, "discard", "which the discard alone did");
	}
}

static void test_clear(void) {
	begin(3 * MIB + 512, ERASE_CLEAR);
	ok(run() == 0 && m.written == m.bytes && m.zero_calls == 0, "clear writes every block");
	same(erase.method, "overwrite", "the method is named");
	ok(memcmp(m.data, m.data + MIB, MIB) != 0 && !zero(0, 512), "with other bytes in each");
	begin(200 * MIB, ERASE_CLEAR);
	ok(run() == 0 && erase.samples == 1024, "samples of a larger disk hold the pattern");
	for (unsigned i = 0; i < 4 && fault.code != CODE_INTEGRITY; i++) { // 1 of 256 patterns has that byte
		begin(40 * MIB, ERASE_CLEAR);
		m.stuck = true;
		m.stuck_at = 20 * MIB + 7;
		(void)run();
	}
	ok(fault.code == CODE_INTEGRITY && strstr(fault.text, "20971527"), "a byte that stays: %s", fault.text);
}

// A bad range does not end an erase: all the rest is empty, and the range is named.
static void test_bad_range(enum erase_level level, bool can_zero) {
	begin(200 * MIB, level);
	m.can_discard = false;
	m.can_zero = can_zero;
	m.bad_from = 20 * MIB + 8192;
	m.bad_to = 20 * MIB + 20480;
	ok(run() < 0 && fault.code == CODE_FAILED, "a bad range: %s", fault.text);
	ok(erase.bad.count == 1 && erase.bad.offset[0] == m.bad_from && erase.bad.size[0] == 12288, "which is named");
	ok(strstr(fault.text, "20979712+12288"), "with its bytes");
	ok(level == ERASE_CLEAR || (zero(0, m.bad_from) && zero(m.bad_to, m.bytes - m.bad_to)),
	   "all the rest is empty");
	ok(m.data[m.bad_to] != 0xa5 || m.data[m.bad_to + 1] != 0xa5 || m.data[m.bad_to + 2] != 0xa5, "behind it too");
}

// Past the first bad MiB, one write each.
static void test_dead_half(void) {
	begin(400 * MIB, ERASE_EMPTY);
	m.can_discard = false;
	m.bad_from = 200 * MIB;
	m.bad_to = 400 * MIB;
	ok(run() < 0 && fault.code == CODE_FAILED && erase.bad.count == 1 && erase.bad.bytes == 200 * MIB,
	   "half of a disk: %s", fault.text);
	ok(zero(0, 200 * MIB), "the other half is empty");
	begin(40 * MIB, ERASE_EMPTY);
	m.can_discard = m.can_zero = false;
	m.dies_after = 5;
	ok(run() < 0 && fault.code == CODE_FAILED && m.changes < 10, "a disk that is gone ends it: %s", fault.text);
}

// Every second granule of 1 MiB fails: 64 ranges are named, all are counted.
static void test_bad_ranges_are_counted(void) {
	struct bad_ranges bad = {0};
	struct text text = {0};

	for (uint64_t i = 0; i < 128; i++)
		bad_ranges_add(&bad, i * 8192, 4096);
	bad_ranges_add(&bad, 0, 4096);
	ok(bad.count == 128 && bad.bytes == 128 * 4096, "%u ranges of %llu bytes", bad.count,
	   (unsigned long long)bad.bytes);
	bad_ranges_write(&bad, 4000, &text);
	ok(strstr(text_string(&text), "516096+4096") && !strstr(text_string(&text), "524288"), "64 are named");
	text_free(&text);
	bad_ranges_write(&bad, 20, &text);
	same(text_string(&text), "0+4096,8192+4096", "as many as there is room for");
	text_free(&text);
	bad_ranges_add(&bad, 4096, 4096);
	ok(bad.count == 128 && bad.size[0] == 8192, "of more than are named none are joined");
	bad = (struct bad_ranges){0};
	bad_ranges_add(&bad, 8192, 4096); // several writes are under way
	bad_ranges_add(&bad, 0, 4096);
	bad_ranges_add(&bad, 4096, 4096);
	bad_ranges_add(&bad, 20480, 4096);
	bad_ranges_add(&bad, 16384, 4096);
	bad_ranges_write(&bad, 400, &text);
	same(text_string(&text), "0+12288,16384+8192", "ranges that come in another order are joined");
	ok(bad.count == 2 && bad.bytes == 20480, "and counted once");
	text_free(&text);
}

static void test_signatures(void) {
	begin(300 * MIB, ERASE_SIGNATURES);
	device.partition_count = 3;
	device.partitions[0] = (struct partition){100 * MIB, 80 * MIB};
	device.partitions[1] = (struct partition){200 * MIB, 10 * MIB};
	device.partitions[2] = (struct partition){299 * MIB, 500 * MIB}; // a table may say anything
	ok(run() == 0, "signatures: %s", fault.text);
	ok(zero(0, 16 * MIB) && zero(284 * MIB, 16 * MIB), "edges of the disk");
	ok(zero(100 * MIB, 16 * MIB) && zero(164 * MIB, 16 * MIB), "edges of a partition");
	ok(zero(200 * MIB, 10 * MIB), "all of a small one");
	ok(!zero(120 * MIB, MIB) && !zero(50 * MIB, MIB), "the rest stays");
	begin(40 * MIB, ERASE_SIGNATURES);
	m.stuck = true;
	m.stuck_at = 39 * MIB;
	ok(run() < 0 && fault.code == CODE_INTEGRITY, "a byte that stays");
	begin(MIB, ERASE_SIGNATURES);
	ok(run() == 0 && zero(0, MIB), "a disk smaller than the edges");
}

static void test_methods(void) {
	enum erase_method method = METHOD_AUTO;

	ok(method_parse("nvme-sanitize-block", &method) == 0 && method == METHOD_NVME_SANITIZE_BLOCK, "a method");
	same(method_name(method), "nvme-sanitize-block", "its name");
	ok(method_parse("format", &method) < 0 && method_parse("", &method) < 0, "no methods");
	for (enum erase_level level = ERASE_SIGNATURES; level <= ERASE_PURGE; level++)
		ok(erase_level_check(level, METHOD_AUTO, &fault) == 0, "auto with %s", erase_level_name(level));
	ok(erase_level_check(ERASE_EMPTY, METHOD_OVERWRITE, &fault) < 0 && fault.code == CODE_USAGE, "%s", fault.text);
	ok(erase_level_check(ERASE_PURGE, METHOD_OVERWRITE, &fault) < 0, "writing purges nothing: %s", fault.text);
	ok(erase_level_check(ERASE_SIGNATURES, method, &fault) < 0, "a command for signatures: %s", fault.text);
	ok(erase_level_check(ERASE_CLEAR, method, &fault) == 0 && erase_level_check(ERASE_PURGE, method, &fault) == 0,
	   "a command clears and purges");
}

// A purge never does less than it promises.
static void test_no_command(void) {
	begin(4 * MIB, ERASE_PURGE);
	ok(run() < 0 && fault.code == CODE_UNSUPPORTED && m.data[0] == 0xa5 && m.changes == 0, "%s", fault.text);
	begin(4 * MIB, ERASE_CLEAR);
	erase.by = METHOD_NVME_FORMAT_USER;
	ok(run() < 0 && fault.code == CODE_UNSUPPORTED && m.changes == 0, "clear by a command: %s", fault.text);
}

static int check(bool full) {
	uint64_t offset;

	erase = (struct erase){.level = ERASE_EMPTY, .full = full};
	return readback(&device, &erase, NULL, &progress, &offset, &fault);
}

// What a drive left that says done. The disk is sparse, so that 1 % of its MiBs is 20.
static void test_leftovers(void) {
	unsigned seen = 0, full = 0, small = 0;

	begin(2048 * MIB, ERASE_EMPTY);
	memset(m.data, 0, m.bytes);
	for (unsigned seed = 0; seed < 100; seed++) {
		srandom(seed);
		for (unsigned i = 0; i < 20; i++)
			memset(m.data + ((uint64_t)random() % 2048) * MIB, 0xa5, MIB);
		seen += check(false) == 1;
		for (uint64_t at = 0; at < m.bytes; at += MIB)
			if (m.data[at])
				memset(m.data + at, 0, MIB);
	}
	ok(seen == 100, "1 %% of the MiBs is found in %u of 100 runs", seen);
	begin(128 * MIB, ERASE_EMPTY);
	memset(m.data, 0, m.bytes);
	for (unsigned seed = 0; seed < 100; seed++) {
		srandom(seed);
		uint64_t at = ((uint64_t)random() % (m.bytes / 4096)) * 4096;
		memset(m.data + at, 0xa5, 4096);
		full += check(true) == 1;
		small += check(false) == 1;
		memset(m.data + at, 0, 4096);
	}
	ok(full == 100, "4 KiB is found by verify=full in %u of 100 runs (by samples in %u)", full, small);
}

// Anybody can repeat the places: contract/erasure.md has the same figures.
static void test_samples(void) {
	uint8_t seed[SEED] = {0};

	ok(samples_count(1 << 30) == 1024 && samples_count(4ull << 40) == 4096, "one per GiB, at least 1,024");
	ok(samples_offset(seed, 1ull << 40, 1024, 0) == 943243264, "sample 0: %llu",
	   (unsigned long long)samples_offset(seed, 1ull << 40, 1024, 0));
	seed[31] = 7;
	ok(samples_offset(seed, 1ull << 40, 1024, 1023) == 1098506235904, "sample 1023: %llu",
	   (unsigned long long)samples_offset(seed, 1ull << 40, 1024, 1023));
}

int main(void) {
	test_empty();
	test_discard_units();
	test_clear();
	test_bad_range(ERASE_EMPTY, true);
	test_bad_range(ERASE_EMPTY, false);
	test_bad_range(ERASE_CLEAR, false);
	test_dead_half();
	test_bad_ranges_are_counted();
	test_signatures();
	test_methods();
	test_no_command();
	test_leftovers();
	test_samples();
	free(m.data);
	return tap_done();
}
