// SPDX-License-Identifier: Apache-2.0
// Sets of disks: how they are named, which are the same, what LVM's metadata say; and that no choice halves one.
#include <stdlib.h>

#include "disk/lvm.h"
#include "disk/several.h"
#include "tap.h"

static void shares(const char *a, const char *b, const char *wanted) {
	char set[SETS_MAX] = "";
	bool shared = sets_share(a, b, set, sizeof(set));

	ok(shared == !!*wanted && !strcmp(set, wanted), "%s and %s share %s", a, b, *wanted ? wanted : "nothing");
	ok(sets_share(b, a, set, sizeof(set)) == shared, "and the other way round");
}

static void test_share(void) {
	shares("", "", "");
	shares("md:1", "", "");
	shares("md:1", "md:1", "md:1");
	shares("md:1", "md:11", "");
	shares("md:1", "lvm:1", "");
	shares("lvm:2,md:1", "zfs:7,md:1", "md:1");
	shares("lvm:*", "lvm:2", "lvm:*");
	shares("lvm:*", "md:2", "");
	shares("*", "md:2", "*");
	shares("*", "", "");
}

static void test_add(void) {
	char sets[SETS_MAX] = "", id[SETS_MAX];

	sets_add(sets, "md", "a-b");
	sets_add(sets, "md", "a-b");
	sets_add(sets, "lvm", "x,y*z\n");
	sets_add(sets, "zfs", "");
	sets_add(sets, "zfs", ",*");
	same(sets, "md:a-b,lvm:xyz,zfs:*", "a set is there once, and its name is plain");
	for (unsigned i = 0; i < 20; i++) {
		snprintf(id, sizeof(id), "%030u", i);
		sets_add(sets, "md", id);
	}
	ok(strlen(sets) < SETS_MAX && !strcmp(sets + strlen(sets) - 2, ",*"), "what does not fit is any set: %s", sets);
	*sets = 0;
	memset(id, 'x', sizeof(id) - 1);
	id[sizeof(id) - 1] = 0;
	sets_add(sets, "md", id);
	same(sets, "*", "one that is too long by itself");
}

static void parse(const char *text, const char *id, unsigned volumes) {
	struct lvm_group group;
	bool is_group = lvm_parse(text, strlen(text), &group);

	ok(is_group == !!*id && !strcmp(group.id, id) && (!*id || group.volumes == volumes), "%.40s: %s of %u", text,
	   group.id, group.volumes);
}

static void test_lvm(void) {
	parse("vg{id=\"A-1\" physical_volumes { pv0 { id=\"p\" } pv1{id=\"q\"} } logical_volumes {a{} b{}}}", "A-1", 2);
	parse("vg { tags=[\"id = \\\"x\\\" { \"] id = \"B\" physical_volumes { pv0 { x { } } } }", "B", 1);
	parse("vg { a { id = \"no\" } id = \"C\" }", "C", 0);
	parse("vg { id = \"D\" } other { id = \"E\" physical_volumes { p { } q { } } }", "D", 0);
	parse("vg { id = 5 }", "", 0);
	parse("vg { id = \"with space\" }", "", 0);
	parse("vg { id = \"unfinished", "", 0);
	parse("}", "", 0);
	parse("", "", 0);
}

#define MOST 8

// Disks in pairs and threes, some of them kept, and a wipe of some or all of them.
static bool halves(unsigned seed, unsigned *taken) {
	static struct disk table[MOST];
	const struct disks disks = {.count = MOST, .items = table};
	static struct several several;
	static const char *const sets[] = {"", "md:1", "lvm:1", "md:1,zfs:1"};
	char selectors[128] = "", keep[128] = "";
	struct fault fault;
	bool half = false;

	srandom(seed);
	for (unsigned i = 0; i < MOST; i++) {
		long set = random() % 4, what = random() % 3;
		table[i] = (struct disk){.bytes = 1000, .readonly = random() % 9 == 0, .transport = "sata"};
		snprintf(table[i].name, sizeof(table[i].name), "sd%c", 'a' + i);
		snprintf(table[i].serial, sizeof(table[i].serial), "%u", i);
		snprintf(table[i].sets, SETS_MAX, "%s", sets[set]);
		char *list = what == 0 ? keep : selectors;
		if (what < 2)
			snprintf(list + strlen(list), 128 - strlen(list), "%sserial:%u", *list ? ";" : "", i);
	}
	if (several_choose(&disks, random() % 3 && *selectors ? selectors : "all", *keep ? keep : NULL, &several,
			   &fault) < 0)
		return false;
	for (size_t i = 0; i < several.count; i++) {
		const struct disk *disk = several.items[i].disk;
		bool is_taken = !several.items[i].left[0] && !several.items[i].unfit[0];
		*taken += is_taken;
		for (unsigned k = 0; is_taken && k < MOST; k++) {
			bool both = false;
			char set[SETS_MAX];
			for (size_t j = 0; j < several.count; j++)
				both |= several.items[j].disk == &table[k] && !several.items[j].left[0] &&
					!several.items[j].unfit[0];
			half |= !both && sets_share(disk->sets, table[k].sets, set, sizeof(set));
		}
	}
	return half;
}

static void test_halves(void) {
	unsigned count = 0, taken = 0;

	for (unsigned seed = 1; seed <= 400; seed++)
		count += halves(seed, &taken);
	ok(taken > 0, "%u disks were taken in 400 seeded choices", taken);
	ok(count == 0, "%u of them halve a set", count);
}

int main(void) {
	test_share();
	test_add();
	test_lvm();
	test_halves();
	return tap_done();
}
