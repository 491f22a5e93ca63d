// SPDX-License-Identifier: Apache-2.0
// partclone's map, sfdisk's dump, extents.
#include "base/extents.h"
#include "import/dump.h"
#include "pack/map.h"
#include "tap.h"

static struct extents used;
static struct map map;
static struct fault fault;

static bool reads(const char *text) {
	char line[256];
	int r = 0;

	extents_free(&used);
	map = (struct map){.limit = 0x10000};
	while (r == 0 && *text) {
		size_t n = strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		text += n + (text[n] == '\n');
		r = map_line(&map, line, 0x100000, &used, &fault);
	}
	return r == 0;
}

#define HEAD "# a comment\n0x00010000     ?\n#      pos        size  status\n"

static void test_map(void) {
	ok(reads(HEAD "0x00000000  0x00001000  +\n0x00001000  0x00003000  ?\n0x00004000  0x00000200  +\n"), "a map: %s",
	   fault.text);
	ok(used.count == 2 && used.items[0].start == 0x100000 && used.items[0].end == 0x101000 &&
		   used.items[1].start == 0x104000 && used.items[1].end == 0x104200 && map.end == 0x4200,
	   "its used ranges, moved");
	ok(!reads(HEAD "0x00001000  0x00001000  +\n"), "does not begin at 0: %s", fault.text);
	ok(!reads(HEAD "0x00000000  0x00001000  +\n0x00002000 0x00001000 +\n"), "has a hole: %s", fault.text);
	ok(!reads(HEAD "0x00000000  0x00020000  +\n"), "is larger than the partition: %s", fault.text);
	ok(!reads(HEAD "0x00000000  0xffffffffffffffff  +\n"), "overflows: %s", fault.text);
	ok(!reads(HEAD "0x00000000  0x00001000  -\n"), "an unknown state: %s", fault.text);
	ok(!reads(HEAD "0  0x1000  +\n") && !reads(HEAD "0x0  4096  +\n") && !reads(HEAD "0x  0x1 +\n"),
	   "no number: %s", fault.text);
	ok(!reads(HEAD "0x0 0x1000 +x\n"), "more behind it: %s", fault.text);
}

static void test_dump(void) {
	static const char text[] =
		"label: gpt\nlabel-id: X\ndevice: /dev/sda\nunit: sectors\nfirst-lba: 34\nlast-lba: 20446\n"
		"sector-size: 512\n\n"
		"/dev/sda1 : start=        2048, size=        4096, type=Y, uuid=Z\n"
		"/dev/sda12 : start= 8192, size= 2048\n";
	struct dump dump;

	ok(dump_parse(text, &dump, &fault) == 0 && dump.is_gpt && dump.partition_count == 2, "a dump: %s", fault.text);
	ok(dump_find(&dump, 12) && dump_find(&dump, 12)->start == 8192 * 512 && !dump_find(&dump, 2), "by number");
	ok(dump_disk_bytes(&dump) == 20480 * 512, "the disk ends where its copy does");
	ok(dump_parse("/dev/nvme0n1p3 : start= 63, size= 100, Id=83\n/dev/x4 : start= 0, size= 0, Id= 0\n", &dump,
		      &fault) == 0 &&
		   dump.partition_count == 1 && dump.partitions[0].number == 3,
	   "an old one");
	ok(!dump.partitions[0].is_swap && !dump.partitions[0].is_extended, "with something to save");
	ok(dump_disk_bytes(&dump) == 1 << 20, "without a GPT: up to the next MiB");
	ok(dump_parse("/dev/a1 : start=1, size=1, type=82, bootable\n/dev/a2 : start=2, size=1, Id= f\n"
		      "/dev/a3 : start=3, size=1, type=0657fd6d-a4ab-43c4-84e5-0933c84b4f4f, uuid=X\n"
		      "/dev/a4 : start=4, size=1, type=5",
		      &dump, &fault) == 0 &&
		   dump.partition_count == 4 && dump.partitions[0].is_swap && dump.partitions[1].is_extended &&
		   dump.partitions[2].is_swap && dump.partitions[3].is_extended,
	   "swaps and extended partitions");
	ok(!dump.partitions[0].is_extended && !dump.partitions[1].is_swap, "which are not the same");
	ok(dump_parse("/dev/a1 : start=1, size=1, type=50\n/dev/a2 : start=2, size=1, type=fd, bootable\n"
		      "/dev/a3 : start=3, size=1, type=EBD0A0A2-B9E5-4433-87C0-68B6B72699C7, name=\"82\"\n",
		      &dump, &fault) == 0 &&
		   !dump.partitions[0].is_swap && !dump.partitions[0].is_extended && !dump.partitions[1].is_swap &&
		   !dump.partitions[1].is_extended && !dump.partitions[2].is_swap,
	   "others");
	ok(dump_parse("/dev/sda1 : size=1\n", &dump, &fault) < 0 && fault.code == CODE_UNSUPPORTED, "no start: %s",
	   fault.text);
	ok(dump_parse("/dev/sda1 : start=99999999999999999999, size=1\n", &dump, &fault) < 0, "no disk is so large: %s",
	   fault.text);
	ok(dump_parse("sector-size: 7\n", &dump, &fault) < 0, "no such sectors: %s", fault.text);
}

static void test_extents(void) {
	struct extents e = {0};

	extents_add(&e, 5000, 6000);
	extents_add(&e, 0, 10);
	extents_add(&e, 10, 20);
	extents_add(&e, 5500, 9000);
	extents_add(&e, 7, 7);
	extents_settle(&e);
	ok(e.count == 2 && e.items[0].end == 20 && e.items[1].start == 5000 && e.items[1].end == 9000,
	   "sorted and joined");
	ok(extents_find(&e, 0, 0) == 0 && extents_find(&e, 0, 20) == 1 && extents_find(&e, 0, 9000) == 2,
	   "found by their ends");
	ok(extents_granules(&e, 0, 1 << 20) == 3 * 4096, "whole granules, each once");
	ok(extents_granules(&e, 4096, 8192) == 4096 && extents_granules(&e, 0, 4000) == 4000, "within a range");
	extents_free(&e);
}

int main(void) {
	test_map();
	test_dump();
	test_extents();
	extents_free(&used);
	return tap_done();
}
