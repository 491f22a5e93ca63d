// SPDX-License-Identifier: Apache-2.0
// Which partitions of a disklabel count. What BSDs write is packed and written by pack/test_ufs.py.
#include "base/bytes.h"
#include "disk/disklabel.h"
#include "tap.h"

static uint8_t sector[DISKLABEL_BYTES];
static struct disklabel label;

static void put(unsigned i, uint32_t start, uint32_t size, uint8_t type) {
	uint8_t *entry = sector + 148 + (size_t)i * 16;

	put_le32(entry, size);
	put_le32(entry + 4, start);
	entry[12] = type;
}

// Of a slice of 1,000 sectors from the 100th on, by the sectors of the disk: a UFS, and all of it.
static void begin(void) {
	memset(sector, 0, sizeof(sector));
	put_le32(sector, 0x82564557);
	put_le32(sector + 40, 512);
	put_le32(sector + 132, 0x82564557);
	put_le16(sector + 138, 8);
	put(0, 100, 400, 7);
	put(2, 100, 1000, 0);
}

static bool reads(void) {
	const struct partition slice = {100 * 512, 1000 * 512};
	uint32_t sum = 0;

	put_le16(sector + 136, 0);
	for (size_t at = 0; at < 148 + (size_t)get_le16(sector + 138) * 16 && at < sizeof(sector); at += 2)
		sum ^= get_le16(sector + at);
	put_le16(sector + 136, sum);
	return disklabel_read(sector, &slice, &label);
}

static void put_more(uint32_t start, uint32_t size, uint8_t type, size_t wanted, const char *what) {
	begin();
	put(3, start, size, type);
	ok(reads() ? label.count == wanted : wanted == 0, "%s: %zu", what, label.count);
}

int main(void) {
	begin();
	ok(reads() && label.count == 1 && label.partitions[0].place.start == 100 * 512 &&
		   label.partitions[0].place.bytes == 400 * 512 && label.partitions[0].is_ffs,
	   "a UFS");
	put_more(500, 600, 1, 2, "swap behind it");
	ok(!label.partitions[1].is_ffs, "which is none");
	put_more(0, 1200, 0, 1, "the disk, without a type");
	put_more(1100, 50, 8, 1, "a partition behind the slice");
	put_more(20, 80, 8, 1, "one before it");
	put_more(499, 10, 7, 0, "one that overlaps");
	put_more(100, 400, 7, 0, "the same twice");
	put_more(90, 1010, 7, 0, "one that begins before the slice");
	put_more(1000, 101, 7, 0, "one that ends behind it");
	begin();
	put_le16(sector + 138, 23);
	ok(!reads(), "more than fit");
	begin();
	put_le32(sector + 40, 4096);
	ok(!reads(), "other sectors");
	begin();
	ok(reads(), "a sum that fits");
	sector[60] ^= 1;
	ok(!disklabel_read(sector, &(struct partition){100 * 512, 1000 * 512}, &label), "one that does not");
	return tap_done();
}
