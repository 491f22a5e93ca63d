// SPDX-License-Identifier: Apache-2.0
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "node/claim.h"
#include "node/hello.h"
#include "tap.h"

#define BOOT "0c2f5c1e-7a54-4c1f-9a55-1f3a0b8f6f5e"
#define NIC "52:54:00:77:00:01"
#define HELLO "hello 1\nboot id=" BOOT " nic=" NIC

static char path[4096];
static struct fault fault;

static char *vector(const char *name, size_t *ret_size) {
	char *data;

	snprintf(path, sizeof(path), "%s/admission/%s", getenv("SLED_CASES"), name);
	if (file_read(path, 1 << 20, &data, ret_size) < 0)
		abort();
	return data;
}

// Every vector of a folder, and how many there are.
static size_t each(const char *folder, bool wanted) {
	struct claim claim;
	glob_t found;
	size_t count;

	snprintf(path, sizeof(path), "%s/admission/%s/*.claim", getenv("SLED_CASES"), folder);
	if (glob(path, 0, NULL, &found) != 0)
		abort();
	count = found.gl_pathc;
	for (size_t i = 0; i < count; i++) {
		char *data;
		size_t size;
		if (file_read(found.gl_pathv[i], 1 << 20, &data, &size) < 0)
			abort();
		fault = (struct fault){0};
		ok((claim_parse(data, size, &claim, &fault) == 0) == wanted, "%s", found.gl_pathv[i]);
		ok(wanted || (fault.code == CODE_USAGE && !strncmp(fault.text, "line ", 5)), "%s", fault.text);
		free(data);
	}
	globfree(&found);
	return count;
}

static void test_claim(void) {
	struct claim claim;
	size_t size;
	char *data;

	ok(each("ok", true) > 0, "accepted vectors");
	ok(each("bad", false) > 0, "refused vectors");
	data = vector("ok/silence.claim", &size);
	ok(claim_parse(data, size, &claim, &fault) == 0, "a claim");
	same(claim.code, "0123-WXYZ", "its code");
	same(claim.nonce, "5f1c9be07d2a4c4f6e8d9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d", "its nonce");
	same(claim.level, "proven", "its level");
	same(claim.want, "silence,console,person", "what it waits for");
	free(data);
	data = calloc(1, CLAIM_BYTES_MAX + 1);
	ok(claim_parse(data, CLAIM_BYTES_MAX + 1, &claim, &fault) < 0 && strstr(fault.text, "longer than 4096"),
	   "too long: %s", fault.text);
	free(data);
}

static void put(const char *name, const char *text) {
	if (file_write_atomic(name, 0600, text, strlen(text)) < 0)
		abort();
}

static void says(const char *serial, const char *wanted, const char *what) {
	struct text text = {0};

	put("root/sys/class/dmi/id/product_serial", serial);
	ok(hello_write("root", NIC, &text, &fault) == 0, "%s is accepted", what);
	same(text_string(&text), wanted, "%s", what);
	text_free(&text);
}

static void test_hello(void) {
	char serial[300], *data;
	size_t size;

	data = vector("ok/smallest.hello", &size);
	says("", data, "no serial");
	says("\n", data, "an empty serial");
	says("   \n", data, "a serial of spaces");
	says("n\x1b[1m\n", data, "a serial with an escape");
	says("n\xc3\xbc\n", data, "a serial that is not ASCII");
	memset(serial, 'a', 257);
	serial[257] = 0;
	says(serial, data, "a serial of 257 bytes");
	free(data);
	serial[256] = 0;
	data = vector("ok/serial_of_256_bytes.hello", &size);
	says(serial, data, "a serial of 256 bytes");
	free(data);
	data = vector("ok/serial_with_spaces.hello", &size);
	says("To be filled by O.E.M.  \n", data, "a serial with spaces");
	free(data);
	put("root/sys/class/dmi/id/product_uuid", "0e8c6a52-7f0c-4f4e-9a49-6f7f0f3c2b11\n");
	says("n1\n", HELLO " uuid=0e8c6a52-7f0c-4f4e-9a49-6f7f0f3c2b11 serial=n1\n", "both");
}

static void test_refused(void) {
	static const char *const nics[] = {"",
					   "00:00:00:00:00:00",
					   "ff:ff:ff:ff:ff:ff",
					   "01:00:5e:00:00:01",
					   "52-54-00-77-00-01",
					   "52:54:00:77:00:0A",
					   "52:54:00:77:00:0",
					   "52:54:00:77:00:011",
					   "52:54:00:77:00:0g"};
	struct text text = {0};

	for (size_t i = 0; i < sizeof(nics) / sizeof(nics[0]); i++)
		ok(hello_write("root", nics[i], &text, &fault) < 0 && fault.code == CODE_USAGE, "%s", fault.text);
	put("root/proc/sys/kernel/random/boot_id", "\n");
	ok(hello_write("root", NIC, &text, &fault) < 0 && fault.code == CODE_FAILED, "%s", fault.text);
	put("root/proc/sys/kernel/random/boot_id",
	    "00000000000000000000000000000000000000000000000000000000000000000\n");
	ok(hello_write("root", NIC, &text, &fault) < 0 && fault.code == CODE_FAILED, "%s", fault.text);
	same(text_string(&text), "", "nothing is written");
}

int main(void) {
	if (!getenv("TMPDIR") || chdir(getenv("TMPDIR")) < 0 ||
	    system("mkdir -p root/sys/class/dmi/id root/proc/sys/kernel/random") != 0)
		abort();
	put("root/proc/sys/kernel/random/boot_id", BOOT "\n");
	test_claim();
	test_hello();
	test_refused();
	return tap_done();
}
