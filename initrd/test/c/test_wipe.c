// SPDX-License-Identifier: Apache-2.0
#include "disk/wipe.h"
#include "memory_disk.h"
#include "tap.h"

#define MIB ((uint64_t)1 << 20)

static struct memory_disk m;
static struct device device;
static struct progress progress;
static struct fault fault;

static bool zero(uint64_t offset, uint64_t size) {
	return m.data[offset] == 0 && !memcmp(m.data + offset, m.data + offset + 1, size - 1);
}

static void begin(uint64_t bytes) {
	free(m.data);
	device = memory_open(&m, bytes, 512);
	fault = (struct fault){0};
}

static void test_clear(void) {
	begin(100 * MIB);
	ok(wipe_clear(&device, &progress, &fault) == 0 && zero(0, m.bytes), "discard that zeroes is enough");
	ok(m.zero_calls == 0 && m.written_blocks == 0, "and nothing is written");
	begin(100 * MIB);
	m.discard_lies = true;
	ok(wipe_clear(&device, &progress, &fault) == 0 && zero(0, m.bytes) && m.zero_calls > 0,
	   "discard that does nothing is found out");
	begin(100 * MIB);
	m.can_discard = m.can_zero = false;
	ok(wipe_clear(&device, &progress, &fault) == 0 && zero(0, m.bytes) && m.written_blocks > 0,
	   "zeros are written where the disk can do neither");
	begin(3 * MIB + 512);
	m.can_discard = m.can_zero = false;
	m.short_transfers = m.interrupted = true;
	ok(wipe_clear(&device, &progress, &fault) == 0 && zero(0, m.bytes), "short and interrupted writes");
	ok(progress.done == m.bytes, "progress ends at the disk's end");
}

static void test_clear_fails(void) {
	begin(40 * MIB);
	m.stuck = true;
	m.stuck_at = 20 * MIB + 7;
	ok(wipe_clear(&device, &progress, &fault) < 0 && fault.code == CODE_INTEGRITY, "a byte that stays: %s",
	   fault.text);
	begin(200 * MIB);
	m.discard_lies = true;
	m.can_zero = false;
	m.fail_at = 150 * MIB;
	ok(wipe_clear(&device, &progress, &fault) < 0 && fault.code == CODE_FAILED, "a write error: %s", fault.text);
	ok(strstr(fault.text, "157286400"), "which names the place");
}

// A disk whose discard leaves every second MiB: found by samples, not only at the edges.
static void test_samples(void) {
	uint64_t offset = 0;
	begin(256 * MIB);
	memset(m.data, 0, m.bytes);
	ok(wipe_check(&device, &offset, &fault) == 0, "all zero");
	memset(m.data + 100 * MIB, 1, MIB);
	ok(wipe_check(&device, &offset, &fault) == 1 && offset >= 100 * MIB && offset < 101 * MIB,
	   "one MiB in the middle is seen");
	memset(m.data, 0, m.bytes);
	m.data[m.bytes - 1] = 1;
	ok(wipe_check(&device, &offset, &fault) == 1, "the last byte is seen");
}

static void test_signatures(void) {
	begin(300 * MIB);
	device.partition_count = 3;
	device.partitions[0] = (struct partition){100 * MIB, 80 * MIB};
	device.partitions[1] = (struct partition){200 * MIB, 10 * MIB};
	device.partitions[2] = (struct partition){299 * MIB, 500 * MIB}; // a table may say anything
	ok(wipe_signatures(&device, &progress, &fault) == 0, "signatures: %s", fault.text);
	ok(zero(0, 16 * MIB) && zero(284 * MIB, 16 * MIB), "edges of the disk");
	ok(zero(100 * MIB, 16 * MIB) && zero(164 * MIB, 16 * MIB), "edges of a partition");
	ok(zero(200 * MIB, 10 * MIB), "all of a small one");
	ok(!zero(120 * MIB, MIB) && !zero(50 * MIB, MIB), "the rest stays");
	begin(40 * MIB);
	m.stuck = true;
	m.stuck_at = 39 * MIB;
	ok(wipe_signatures(&device, &progress, &fault) < 0 && fault.code == CODE_INTEGRITY, "a byte that stays");
	begin(MIB);
	ok(wipe_signatures(&device, &progress, &fault) == 0 && zero(0, MIB), "a disk smaller than the edges");
}

int main(void) {
	test_clear();
	test_clear_fails();
	test_samples();
	test_signatures();
	free(m.data);
	return tap_done();
}
