// SPDX-License-Identifier: Apache-2.0
// Selection as a function over a table.
#include <stdlib.h>

#include "disk/choose.h"
#include "tap.h"

static struct disk table[] = {
	{.name = "vda",
	 .serial = "A",
	 .model = "Fast 1",
	 .bytes = 100,
	 .wwn = "0x5000c500",
	 .path = "pci-0000:00:04.0",
	 .transport = "virtio"},
	{.name = "vdb",
	 .serial = "B,1",
	 .model = "Fast 2",
	 .bytes = 200,
	 .rotational = true,
	 .path = "p-ata-1.0",
	 .path_short = "p-ata-1",
	 .transport = "sata"},
	{.name = "vdc", .serial = "C", .model = "Slow", .bytes = 300, .readonly = true, .transport = "nvme"},
	{.name = "vdd", .serial = "D", .model = "Slow", .bytes = 400, .in_use = "mounted at /srv", .transport = "mmc"},
	{.name = "sde", .serial = "E", .model = "Stick", .bytes = 500, .removable = true, .excluded = "removable"},
	{.name = "twin1", .serial = "T", .bytes = 600, .transport = "raid"},
	{.name = "twin2", .serial = "T", .bytes = 700, .transport = "raid"},
	{.name = "none", .bytes = 800, .transport = "sas"},
	{.name = "md0", .bytes = 900, .excluded = "an md array"},
	{.name = "locked", .serial = "L", .excluded = "without a size"},
	{.name = "usb", .serial = "U", .bytes = 50, .transport = "usb", .foreign = "attached by USB"},
	{.name = "odd", .serial = "O", .bytes = 50},
};
static const struct disks disks = {.count = sizeof(table) / sizeof(table[0]), .items = table};

static void chosen(const char *selector, const char *keep, const char *name) {
	const struct disk *disk = NULL;
	struct fault fault = {0};
	int r = choose_disk(&disks, selector, keep, &disk, &fault);
	ok(r == 0 && !strcmp(disk->name, name), "%s keep %s is %s: %s", selector, keep ? keep : "-", name, fault.text);
}

static void refused(const char *selector, const char *keep, const char *words) {
	const struct disk *disk = NULL;
	struct fault fault = {0};
	int r = choose_disk(&disks, selector, keep, &disk, &fault);
	ok(r < 0 && !disk && fault.code == CODE_DISK && strstr(fault.text, words), "%s: %s", selector, fault.text);
}

static void test_choice(void) {
	chosen("serial:A", NULL, "vda");
	chosen("wwn:0x5000c500", NULL, "vda");
	chosen("path:pci-0000:00:04.0", NULL, "vda");
	chosen("path:p-ata-1.0", NULL, "vdb");
	chosen("path:p-ata-1", NULL, "vdb");
	chosen("serial:B%2C1", NULL, "vdb");
	chosen("rotational:1", NULL, "vdb");
	chosen("model:Fast*,rotational:0", NULL, "vda");
	chosen("model:*1", NULL, "vda");
	chosen("size:100-150", NULL, "vda");
	chosen("size:-150", NULL, "vda");
	chosen("size:800-", NULL, "none");
	chosen("serial:A", "serial:C;model:Slow", "vda");
	refused("serial:a", NULL, "no disk");
	refused("serial:A,rotational:1", NULL, "no disk");
	refused("model:Fast*", NULL, "2 disks");
	refused("serial:T", NULL, "2 disks");
	refused("only", NULL, "7 disks");
	refused("serial:C", NULL, "read-only");
	refused("serial:D", NULL, "mounted at /srv");
	refused("serial:E", NULL, "no disk");
	refused("serial:A", "serial:C;model:Fast*", "keep list");
	refused("serial:A", "only", "keep list");
	refused("model:Fast*", "serial:A", "2 disks");
	refused("size:-60", NULL, "no disk");
	chosen("serial:U", NULL, "usb");
	chosen("smallest", NULL, "vda");
}

// An entry that keeps nothing was meant to keep something.
static void test_keep(void) {
	refused("serial:A", "serial:X", "keep serial:X: no disk matches");
	refused("serial:A", "serial:C;serial:c", "keep serial:c: no disk matches");
	refused("serial:A", "model:Slow-00005;serial:C", "keep model:Slow-00005: no disk matches");
	refused("serial:A", "serial:B%2C1,size:1-99", "keep serial:B%2C1,size:1-99: no disk matches");
	refused("serial:A", "wwn:0xDEAD", "keep wwn:0xDEAD: no disk matches");
	refused("serial:A", "model:*,size:900-", "keep model:*,size:900-: no disk matches"); // md0 is no disk
	chosen("serial:A", "serial:B%2C1", "vda");
	chosen("serial:A", "serial:E", "vda"); // a kept stick
	chosen("serial:A", "serial:L", "vda"); // a kept disk that is locked
}

static void test_only(void) {
	static const struct disks one = {.count = 1, .items = &table[0]};
	const struct disk *disk = NULL;
	struct fault fault;
	ok(choose_disk(&one, "only", NULL, &disk, &fault) == 0 && disk == &table[0], "only, of one");
}

static void test_list(void) {
	struct text text = {0};
	struct fault fault;
	unsigned lines = 0;

	ok(choose_list(&disks, "serial:A", "serial:none", &text, &fault) == 0, "a list is made");
	for (const char *c = text_string(&text); *c; c++)
		lines += *c == '\n';
	ok(lines == disks.count - 1, "every disk with a size is in it");
	ok(strstr(text_string(&text), "name=vda serial=A") &&
		   strstr(text_string(&text), "vendor= transport=virtio why=\n"),
	   "a fit one has no reason");
	ok(strstr(text_string(&text), "why=read-only\n"), "others have one");
	ok(strstr(text_string(&text), "why=mounted%20at%20/srv\n"), "which says what uses it");
	ok(strstr(text_string(&text), "why=does%20not%20match\n"), "or that it was not meant");
	text_free(&text);
	ok(choose_list(&disks, "only", NULL, &text, &fault) == 0, "a list of what is to be named");
	ok(strstr(text_string(&text), "why=attached%20by%20USB:%20name%20it%20by%20serial,%20wwn%20or%20path\n"),
	   "USB");
	ok(strstr(text_string(&text), "why=attached%20in%20an%20unknown%20way:%20name%20it"), "an unknown transport");
	text_free(&text);
}

int main(void) {
	test_choice();
	test_keep();
	test_only();
	test_list();
	return tap_done();
}
