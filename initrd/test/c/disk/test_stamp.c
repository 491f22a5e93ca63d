// SPDX-License-Identifier: Apache-2.0
// Which disk is ahead of a store, and where a stamp fits.
#include "disk/stamp.h"

#include <stdlib.h>

#include "disk/memory_disk.h"
#include "tap.h"

#define MIB ((uint64_t)1 << 20)
#define FLEET "0b5f6c1e-7a54-8c1f-9a55-1f3a0b8f6f5e"
#define OTHER "7d1f0f3a-52c1-4f7e-8a54-0b5f6c1e7a54"
#define EPOCH "11111111-52c1-4f7e-8a54-0b5f6c1e7a54"
#define MAC "52-54-00-77-00-01"

static struct memory_disk m;
static struct device device;
static struct fault fault;

static void begin(uint64_t bytes, uint64_t partition) {
	free(m.data);
	device = memory_open(&m, bytes, 512);
	memset(m.data, 0, bytes);
	device.partition_count = partition ? 1 : 0;
	device.partitions[0] = (struct partition){partition, MIB};
}

static void test_ahead(void) {
	static const struct {
		const char *disk, *known, *why;
		bool ahead;
	} cases[] = {
		{FLEET "/" EPOCH "/" MAC "/3/7", FLEET "/" EPOCH "/" MAC "/3/7", "the newest write", false},
		{FLEET "/" EPOCH "/" MAC "/3/7", FLEET "/" EPOCH "/" MAC "/4/9", "an older one", false},
		{FLEET "/" EPOCH "/" MAC "/3/7", FLEET "/" EPOCH "/" MAC "/2/5", "a newer generation", true},
		{FLEET "/" EPOCH "/" MAC "/3/10", FLEET "/" EPOCH "/" MAC "/3/9", "a newer run of it", true},
		{FLEET "/" EPOCH "/" MAC "/3/7", FLEET "/" EPOCH "/" MAC "/0/0", "the store knows of none", true},
		{FLEET "/" EPOCH "/" MAC "/1/1", FLEET "/" OTHER "/" MAC "/4/9", "older, of another epoch", true},
		{FLEET "/" EPOCH "/" MAC "/2/9", FLEET "/" OTHER "/" MAC "/2/9", "issued twice", true},
		{FLEET "/" EPOCH "/52-54-00-77-00-02/9/90", FLEET "/" EPOCH "/" MAC "/1/1", "swapped between nodes",
		 false},
		{FLEET "/" EPOCH "/52-54-00-77-00-02/1/1", FLEET "/" OTHER "/" MAC "/1/1", "swapped, another epoch",
		 true},
		{OTHER "/" EPOCH "/" MAC "/9/90", FLEET "/" OTHER "/" MAC "/1/1", "moved from another site", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(4 * MIB, 2 * MIB);
		ok(stamp_put(&device, cases[i].disk, &fault) == 0, "stamped: %s", cases[i].why);
		ok((stamp_admit(&device, cases[i].known, &fault) < 0) == cases[i].ahead &&
			   (!cases[i].ahead || fault.code == CODE_DISK),
		   "%s: %s", cases[i].why, cases[i].ahead ? "ahead" : "not ahead");
		ok(stamp_admit(&device, NULL, &fault) == 0, "released");
	}
}

static void test_place(void) {
	const char *value = FLEET "/" EPOCH "/" MAC "/3/7";
	struct stamp stamp;

	begin(4 * MIB, MIB);
	ok(stamp_put(&device, value, &fault) == 0 && stamp_put(&device, value, &fault) == 0, "again: %s", fault.text);
	ok(stamp_read(m.data + STAMP_AT, &stamp) && stamp.generation == 3 && stamp.run == 7, "read back");
	same(stamp.mac, MAC, "its node");
	m.data[STAMP_AT + 2000] = 1;
	ok(!stamp_read(m.data + STAMP_AT, &stamp), "bytes behind the line: no stamp");
	ok(stamp_put(&device, value, &fault) < 0 && fault.code == CODE_UNSUPPORTED, "which are not overwritten");
	begin(4 * MIB, 63 * 512);
	ok(stamp_put(&device, value, &fault) < 0 && fault.code == CODE_UNSUPPORTED && m.written == 0,
	   "a partition from sector 63");
	begin(4 * MIB, 0);
	ok(stamp_put(&device, value, &fault) < 0 && fault.code == CODE_UNSUPPORTED && m.written == 0,
	   "no partition table");
	begin(MIB / 2, 512);
	ok(stamp_put(&device, value, &fault) < 0 && fault.code == CODE_UNSUPPORTED &&
		   stamp_admit(&device, value, &fault) == 0,
	   "less than 1 MiB");
	begin(4 * MIB, MIB);
	m.bad_from = STAMP_AT, m.bad_to = MIB;
	ok(stamp_admit(&device, value, &fault) == 0, "a disk that cannot be read there can be erased");
	ok(stamp_put(&device, value, &fault) < 0 && fault.code == CODE_FAILED, "and is not stamped");
}

int main(void) {
	test_ahead();
	test_place();
	free(m.data);
	return tap_done();
}
