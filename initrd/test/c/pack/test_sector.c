// SPDX-License-Identifier: Apache-2.0
// Which sectors a disk in a file has, if its table is an MBR: by what its partitions start at.
#include <stdlib.h>

#include "base/bytes.h"
#include "pack/sector.h"
#include "tap.h"

#define MIB ((uint64_t)1 << 20)

static uint8_t *disk;
static struct reader reader;
static struct fault fault;

static void begin(void) {
	free(disk);
	disk = calloc(1, 64 * MIB);
	reader = (struct reader){.name = "memory", .bytes = 64 * MIB, .fd = -1, .memory = disk};
	disk[510] = 0x55;
	disk[511] = 0xaa;
}

// Partition `i` starts at sector `start`; with 512, or with 4096, what lies there is recognised.
static void put(unsigned i, uint32_t start, bool with_512, bool with_4096) {
	disk[446 + 16 * i + 4] = 0x83;
	put_le32(disk + 446 + 16 * i + 8, start);
	put_le32(disk + 446 + 16 * i + 12, 256);
	if (with_512)
		memcpy(disk + (uint64_t)start * 512, "XFSB", 4);
	if (with_4096)
		memcpy(disk + (uint64_t)start * 4096, "XFSB", 4);
}

// 0: refused.
static uint32_t sector(void) {
	struct table table = {0};
	uint32_t ret = sector_read_table(&reader, 0, &table, &fault) < 0 ? 0 : table.sector;

	table_free(&table);
	return ret;
}

int main(void) {
	begin();
	put(0, 1024, false, true);
	ok(sector() == 4096, "one with 4096, zeros with 512");
	disk[1024 * 512 + 70000] = 1;
	ok(sector() == 0 && strstr(fault.text, "sector="), "one with 4096, something unknown with 512: %s", fault.text);
	begin();
	put(0, 1024, true, false);
	ok(sector() == 512, "one with 512");
	put(1, 2048, false, true);
	ok(sector() == 0, "one with each");
	put(2, 4096, true, false);
	ok(sector() == 512, "two of 512, one chance hit");
	begin();
	put(0, 1024, false, true);
	put(1, 2048, false, true);
	ok(sector() == 4096, "all with 4096");
	put(2, 4096, false, false);
	ok(sector() == 0, "not all with 4096, none with 512");
	disk[446 + 36] = 0x05;
	memcpy(disk + (uint64_t)4096 * 4096 + 510, "\x55\xaa", 2);
	ok(sector() == 4096, "an extended one too");
	begin();
	put(0, 1024, false, false);
	ok(sector() == 512, "nothing is recognised");
	free(disk);
	return tap_done();
}
