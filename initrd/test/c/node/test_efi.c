// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "node/efi.h"
#include "tap.h"

// clang-format off
#define FLAGS(attributes) "\7\0\0\0" attributes "\0\0"
#define PCI "\1\1\6\0\0\3"
#define MAC_NODE "\3\13\45\0" "\x52\x54\0\x77\0\7" "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" "\1"
#define SATA_NODE "\3\22\12\0" "\0\0\377\377\0\0"
#define END "\177\377\4\0"

static struct efi_entry parse(const char *data, size_t size, int wanted, const char *what) {
	struct efi_entry entry;
	ok(efi_entry_parse((const uint8_t *)data, size, &entry) == wanted, "%s", what);
	return entry;
}

#define PARSE(data, wanted, what) parse(data, sizeof(data) - 1, wanted, what)

static void test_entries(void) {
	struct efi_entry e = PARSE(FLAGS("\1\0") "\57\0" "P\0X\0E\0\0\0" PCI MAC_NODE END, 0, "a network card");
	ok(e.boots && e.kind == EFI_NETWORK, "boots from the network");
	same(e.name, "PXE", "and has a name");
	e = PARSE(FLAGS("\1\0") "\24\0" "d\0\0\0" PCI SATA_NODE END, 0, "a disk");
	ok(e.boots && e.kind == EFI_DISK, "boots from it");
	e = PARSE(FLAGS("\0\0") "\24\0" "d\0\0\0" PCI SATA_NODE END, 0, "one that is not active");
	ok(!e.boots && e.kind == EFI_DISK, "does not boot");
	e = PARSE(FLAGS("\11\1") "\4\0" "U\0i\0\0\0" END, 0, "the firmware's own application");
	ok(!e.boots && e.kind == EFI_UNKNOWN, "boots nothing");
	e = PARSE(FLAGS("\1\0") "\0\0" "\33\0\101\1\0\0", 0, "odd letters, no path");
	same(e.name, "??", "as question marks");
}

static void test_bad_entries(void) {
	struct efi_entry e;

	(void)PARSE("", -EBADMSG, "nothing");
	(void)PARSE("\7\0\0\0\1\0\0\0\4", -EBADMSG, "cut in its head");
	(void)PARSE(FLAGS("\1\0") "\4\0" "n\0a\0", -EBADMSG, "a name without an end");
	(void)PARSE(FLAGS("\1\0") "\10\0" "n\0\0\0" END, -EBADMSG, "a path that is longer than the variable");
	e = PARSE(FLAGS("\1\0") "\4\0" "n\0\0\0" "\3\22\0\0", 0, "a node of no length");
	ok(e.kind == EFI_UNKNOWN, "ends the path");
	e = PARSE(FLAGS("\1\0") "\4\0" "n\0\0\0" "\3\22\377\0", 0, "a node that is longer than the path");
	ok(e.kind == EFI_UNKNOWN, "does not count");
}

static void put(const char *root, const char *name, const void *data, size_t size) {
	char path[256];
	snprintf(path, sizeof(path), "%s/sys/firmware/efi/efivars/%s-8be4df61-93ca-11d2-aa0d-00e098032b8c", root, name);
	ok(file_write_atomic(path, 0600, data, size) == 0, "write %s", name);
}

static void describes(const char *root, const char *wanted, const char *what) {
	struct text text = {0};
	efi_describe(root, &text);
	same(text_string(&text), wanted, "%s", what);
	text_free(&text);
}

static void test_describe(void) {
	char root[] = "/tmp/efi.XXXXXX", path[256];
	static const char *const folders[] = {"sys", "sys/firmware", "sys/firmware/efi", "sys/firmware/efi/efivars"};

	ok(mkdtemp(root) != NULL, "a folder");
	describes(root, "", "BIOS");
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		ok(mkdir(path, 0700) == 0, "%s", folders[i]);
	}
	describes(root, " boot_order=unknown", "UEFI that keeps nothing");
	put(root, "Boot0000", FLAGS("\11\1") "\4\0" "U\0i\0\0\0" END, 20);
	put(root, "Boot000A", FLAGS("\1\0") "\24\0" "d\0 \0001\0\0\0" PCI SATA_NODE END, 38);
	put(root, "BootOrder", "\7\0\0\0" "\0\0" "\11\0" "\12\0", 10);
	put(root, "BootCurrent", "\6\0\0\0" "\12\0", 6);
	describes(root, " boot_order=disk boot_current=000A%20d%201", "the first that is there and boots something");
	put(root, "BootCurrent", "\6\0\0\0" "\3\0", 6);
	describes(root, " boot_order=disk boot_current=0003", "started by an entry that is gone");
	put(root, "BootCurrent", "\6\0\0", 3);
	describes(root, " boot_order=disk", "a variable that is cut");
	snprintf(path, sizeof(path), "rm -r %s", root);
	ok(system(path) == 0, "remove the folder");
}
// clang-format on

int main(void) {
	test_entries();
	test_bad_entries();
	test_describe();
	return tap_done();
}
