// SPDX-License-Identifier: Apache-2.0
// Which disks a wipe takes, several side by side, and the line of each in the report.
#include "base/cleanup.h"
#include "base/operand.h"
#include "disk/several.h"
#include "erase/batch.h"
#include "erase/level.h"
#include "disk/memory_disk.h"
#include "tap.h"

#define MIB ((uint64_t)1 << 20)
#define DISKS 8

static struct disk table[] = {
	{.name = "sda", .serial = "A", .bytes = 100, .transport = "sas"},
	{.name = "sdb", .serial = "B", .bytes = 100, .transport = "sas"},
	{.name = "sdc", .serial = "C", .bytes = 100, .transport = "sas", .readonly = true},
	{.name = "sdd", .serial = "D", .bytes = 100, .foreign = "attached by USB"},
	{.name = "sde", .serial = "E", .bytes = 100, .removable = true, .excluded = "removable"},
	{.name = "sdf", .serial = "F", .excluded = "without a size"},
	{.name = "loop0", .bytes = 100, .excluded = "a loop device"},
	{.name = "sdg", .serial = "G", .bytes = 100, .transport = "sas", .in_use = "mounted at /srv"},
};
static const struct disks disks = {.count = sizeof(table) / sizeof(table[0]), .items = table};
static struct several several;
static struct fault fault;

static void test_all(void) {
	ok(several_choose(&disks, "all", "serial:B", &several, &fault) == 0 && several.count == 7, "all: %zu disks",
	   several.count);
	ok(!*several.items[0].left && !*several.items[0].unfit, "a disk");
	same(several.items[1].left, "on the keep list", "a kept one is left out");
	same(several.items[2].unfit, "read-only", "a read-only one is not: it holds data");
	same(several.items[3].left, "attached by USB", "USB");
	same(several.items[4].left, "removable", "a stick");
	same(several.items[5].left, "without a size", "a disk that answers nothing");
	same(several.items[6].unfit, "mounted at /srv", "one in use");
	ok(several_choose(&disks, "all", "serial:B;serial:b", &several, &fault) < 0 && fault.code == CODE_DISK &&
		   strstr(fault.text, "keep serial:b: no disk matches"),
	   "an entry that keeps nothing: %s", fault.text);
	ok(several_choose(&disks, "all", "serial:B;serial:E;serial:F", &several, &fault) == 0, "a stick, a locked one");
	ok(several_choose(&disks, "all", "size:0-", &several, &fault) < 0 && fault.code == CODE_DISK, "none: %s",
	   fault.text);
}

static void test_list(void) {
	ok(several_choose(&disks, "serial:A;serial:B", NULL, &several, &fault) == 0 && several.count == 2, "two");
	ok(several_choose(&disks, "serial:A;serial:X", NULL, &several, &fault) < 0 && fault.code == CODE_DISK, "%s",
	   fault.text);
	ok(several_choose(&disks, "serial:A;serial:B", "serial:B", &several, &fault) < 0, "kept: %s", fault.text);
	ok(several_choose(&disks, "serial:A", "serial:X", &several, &fault) < 0 && strstr(fault.text, "keep serial:X"),
	   "a list, and an entry that keeps nothing: %s", fault.text);
	ok(several_choose(&disks, "serial:A;size:100,serial:A", NULL, &several, &fault) < 0, "twice: %s", fault.text);
	ok(several_choose(&disks, "serial:A;serial:C", NULL, &several, &fault) < 0, "read-only: %s", fault.text);
	ok(several_check("all", &fault) == 0 && several_check("serial:A;only", &fault) == 0, "operands");
	ok(several_check("all;serial:A", &fault) < 0 && several_check("", &fault) < 0 &&
		   several_check("/dev/sda", &fault) < 0,
	   "no operands");
}

static struct memory_disk m[DISKS];
static unsigned shown;

static void show(const struct progress *progress) { shown += progress->total >= progress->done; }

static void make(struct erase_batch *batch) {
	*batch = (struct erase_batch){.count = DISKS, .jobs = calloc(DISKS, sizeof(*batch->jobs)), .show = show};
	for (unsigned i = 0; i < DISKS; i++) {
		batch->jobs[i].device = memory_open(&m[i], 8 * MIB, 512);
		batch->jobs[i].erase.level = ERASE_EMPTY;
		snprintf(batch->jobs[i].disk.name, 64, "sd%c", 'a' + i);
	}
}

static void finish(struct erase_batch *batch) {
	for (unsigned i = 0; i < DISKS; i++)
		free(m[i].data);
	batch_free(batch);
}

// 8 disks, one with a bad range and one that keeps a byte: six are good, and the worst code counts.
static void test_side_by_side(void) {
	struct erase_batch batch;
	struct text text = {0};
	unsigned good = 0;

	make(&batch);
	m[3].can_discard = false;
	m[3].bad_from = MIB;
	m[3].bad_to = MIB + 4096;
	ok(batch_erase(&batch, &fault) == 0 && batch_code(&batch) == CODE_FAILED && shown >= 7, "one of 8 is bad");
	for (unsigned i = 0; i < DISKS; i++)
		good += batch.jobs[i].result == ERASED && m[i].data[0] == 0 && m[i].data[8 * MIB - 1] == 0;
	ok(good == 7 && batch.jobs[3].result == ERASE_FAILED, "7 others are good");
	batch_describe(&batch, ERASE_EMPTY, &text);
	ok(strstr(text_string(&text), "empty: 7 disks; failed: sdd (memory: 1 ranges, 4096 bytes"), "%s",
	   text_string(&text));
	batch.jobs[3].fault.code = CODE_DISK;
	ok(batch_code(&batch) == CODE_FAILED, "code 4 only if nothing was touched");
	batch.jobs[4].result = ERASE_FAILED;
	batch.jobs[4].fault.code = CODE_INTEGRITY;
	ok(batch_code(&batch) == CODE_INTEGRITY, "code 5 is the worst");
	text_free(&text);
	finish(&batch);
}

#define LARGE 100 // MiB: 1 % of them is one
#define LEAST 65  // MiB: a smaller disk is read as a whole whatever is requested

// A drive that says done and left one grain of its blocks, beside one that is sound: the record of the one is failed.
static bool is_found(unsigned seed, enum erase_level level, uint32_t grain, bool full, bool *sound) {
	uint64_t bytes = (full ? LEAST : LARGE) * MIB;
	static struct memory_disk disk[2];
	static bool left[LARGE * MIB / 4096];
	struct erase_batch batch = {.count = 2, .jobs = calloc(2, sizeof(*batch.jobs))};
	struct text text = {0};
	uint64_t at;
	bool found;

	srandom(seed);
	at = (uint64_t)random() % (bytes / grain);
	left[at] = true;
	for (unsigned i = 0; i < 2; i++) {
		batch.jobs[i].device = memory_open(&disk[i], i == 0 ? bytes : MIB, 512);
		batch.jobs[i].erase.level = level;
		batch.jobs[i].erase.full = full;
	}
	disk[0].left = left;
	disk[0].grain = grain;
	found = batch_erase(&batch, &fault) == 0 && batch_code(&batch) == CODE_INTEGRITY &&
		batch.jobs[0].fault.code == CODE_INTEGRITY;
	record_write(&batch.jobs[0].disk, &batch.jobs[0].erase, batch.jobs[0].result, batch.jobs[0].fault.text, &text);
	found = found && strstr(text_string(&text), "result=failed");
	*sound = *sound && batch.jobs[1].result == ERASED;
	left[at] = false;
	text_free(&text);
	for (unsigned i = 0; i < 2; i++)
		free(disk[i].data);
	batch_free(&batch);
	return found;
}

// 1 % of the MiBs by samples, 4 KiB by reading all. The pattern of a clear takes time.
static void test_left(void) {
	static const struct {
		enum erase_level level;
		uint32_t grain;
		bool full;
		unsigned runs;
	} cases[] = {{ERASE_EMPTY, 1u << 20, false, 100},
		     {ERASE_CLEAR, 1u << 20, false, 20},
		     {ERASE_EMPTY, 4096, true, 100},
		     {ERASE_CLEAR, 4096, true, 10}};

	for (unsigned k = 0; k < ELEMENTS(cases); k++) {
		unsigned found = 0;
		bool sound = true;
		for (unsigned seed = 0; seed < cases[k].runs; seed++)
			found += is_found(seed, cases[k].level, cases[k].grain, cases[k].full, &sound);
		ok(found == cases[k].runs && sound, "%s: %u KiB that a drive left are found in %u of %u runs",
		   erase_level_name(cases[k].level), cases[k].grain >> 10, found, cases[k].runs);
	}
}

static void test_record(void) {
	struct disk disk = {.name = "sda", .serial = "S 1\n", .wwn = "0x5", .bytes = 1000, .sector = 512};
	struct erase erase = {.level = ERASE_CLEAR, .method = "overwrite", .read = 1000, .seconds = 1.5};
	struct operands operands = {0};
	struct text text = {0};

	record_write(&disk, &erase, ERASED, "", &text);
	same(text_string(&text),
	     "erasure result=good disk=sda serial=S%201%3F wwn=0x5 path= model= bytes=1000 sector=512 level=clear "
	     "method=overwrite verify=full read=1000 seconds=1.500",
	     "a record");
	text_free(&text);
	memset(disk.serial, 0xff, sizeof(disk.serial) - 1);
	memset(disk.model, '%', sizeof(disk.model) - 1);
	memset(disk.path, ' ', sizeof(disk.path) - 1);
	memset(disk.wwn, '=', sizeof(disk.wwn) - 1);
	erase.samples = erase.compared = UINT64_MAX;
	memset(erase.reported, '%', sizeof(erase.reported) - 1);
	for (uint64_t i = 0; i < 100; i++)
		bad_ranges_add(&erase.bad, (1ull << 62) + i * 8192, 4096);
	record_write(&disk, &erase, ERASE_FAILED, disk.serial, &text);
	ok(text.size <= RECORD_MAX && operands_parse(text_string(&text), text.size, &operands, &fault) == 0,
	   "the longest record has %zu bytes", text.size);
	operands_free(&operands);
	text_free(&text);
	disk = (struct disk){.name = "nvme0n1"};
	erase = (struct erase){.level = ERASE_PURGE, .method = "nvme-format-user", .reported = "a b", .compared = 7};
	record_write(&disk, &erase, ERASED, "", &text);
	ok(strstr(text_string(&text), " level=purge method=nvme-format-user") &&
		   strstr(text_string(&text), " reported=a%20b compared=7"),
	   "%s", text_string(&text));
	text_free(&text);
	record_write(&disk, &(struct erase){0}, ERASE_LEFT_OUT, "on the keep list", &text);
	ok(strstr(text_string(&text), "result=left") && strstr(text_string(&text), "reason=on%20the%20keep%20list") &&
		   !strstr(text_string(&text), "method"),
	   "a disk that was left out");
	text_free(&text);
}

int main(void) {
	test_all();
	test_list();
	test_side_by_side();
	test_left();
	test_record();
	return tap_done();
}
