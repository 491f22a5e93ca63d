// SPDX-License-Identifier: Apache-2.0
// Wire structures of NVMe. The bytes of commands are those that nvme-cli sends.
#include <errno.h>
#include <stdio.h>

#include "drive_pages.h"
#include "tap.h"

static uint8_t page[NVME_PAGE], command[NVME_COMMAND];

// "opcode nsid cdw10"; all else must be zero.
static const char *words(void) {
	static char text[64];
	uint8_t rest[NVME_COMMAND];

	memcpy(rest, command, sizeof(rest));
	rest[0] = 0;
	put_le32(rest + 4, 0);
	put_le32(rest + 40, 0);
	snprintf(text, sizeof(text), "%02x %08x %08x%s", command[0], get_le32(command + 4), get_le32(command + 40),
		 is_zero(rest, sizeof(rest)) ? "" : " and more");
	return text;
}

static void test_commands(void) {
	struct nvme_namespace as = {.format = 1};

	nvme_identify(0, NVME_CNS_CONTROLLER, command);
	same(words(), "06 00000000 00000001", "Identify Controller");
	nvme_identify(7, NVME_CNS_NAMESPACE, command);
	same(words(), "06 00000007 00000000", "Identify Namespace");
	nvme_identify(0, NVME_CNS_ALLOCATED, command);
	same(words(), "06 00000000 00000010", "the list of allocated namespaces");
	nvme_get_sanitize_log(command);
	same(words(), "02 ffffffff 007f0081", "Get Log Page");
	nvme_format(1, &as, NVME_SES_USER, command);
	same(words(), "80 00000001 00000201", "Format, user data");
	as = (struct nvme_namespace){.format = 0x23, .extended = true, .protection = 2, .first = true};
	nvme_format(2, &as, NVME_SES_CRYPTO, command);
	same(words(), "80 00000002 00002553", "Format keeps format, metadata and protection");
	nvme_sanitize(NVME_SANACT_BLOCK, command);
	same(words(), "84 00000000 00000002", "Sanitize, block erase");
	nvme_sanitize(NVME_SANACT_CRYPTO, command);
	same(words(), "84 00000000 00000004", "Sanitize, crypto erase");
	nvme_sanitize(NVME_SANACT_OVERWRITE, command);
	same(words(), "84 00000000 00000013", "Sanitize, one overwrite pass: 0 would be sixteen");
}

static void test_controller(void) {
	struct nvme_controller c;

	page_controller(page, 0x0a, 0x04, 3, 0, 32);
	ok(nvme_controller_decode(page, sizeof(page), &c) == 0, "a controller");
	same(c.serial, "S1", "serial number");
	same(c.model, "MODEL 9", "model");
	same(c.nqn, "nqn.2014.08.org.example:S1", "name of the subsystem");
	ok(c.has_format && c.has_allocated && c.format_crypto && !c.format_all && !c.has_others, "OACS, FNA, CMIC");
	ok(c.sanitize_crypto && c.sanitize_block && !c.sanitize_overwrite && c.namespaces == 32, "SANICAP, NN");
	page_controller(page, 0, 1, 4, 2, 1);
	ok(nvme_controller_decode(page, sizeof(page), &c) == 0 && c.format_all && !c.has_format && c.has_others,
	   "FNA bit 0 alone reaches all namespaces");
	ok(c.sanitize_overwrite && !c.sanitize_block && !c.sanitize_crypto, "overwrite alone");
	page_controller(page, 0, 2, 0, 0, 1);
	ok(nvme_controller_decode(page, sizeof(page), &c) == 0 && c.format_all, "so does bit 1");
	memset(page + 4, 0x1b, 60);
	ok(nvme_controller_decode(page, sizeof(page), &c) == 0 && strspn(c.model, "?") == 40, "bytes for a terminal");
	ok(nvme_controller_decode(page, sizeof(page) - 1, &c) == -EINVAL, "one byte short");
	memset(page, 0, sizeof(page));
	ok(nvme_controller_decode(page, sizeof(page), &c) == -EINVAL, "zeros are no controller");
}

static void test_namespace(void) {
	struct nvme_namespace n;

	page_namespace(page, 1 << 20, 0x11, 0x0a);
	ok(nvme_namespace_decode(page, sizeof(page), &n) == 0 && n.blocks == 1 << 20, "a namespace");
	ok(n.format == 1 && n.extended && n.protection == 2 && n.first, "FLBAS, DPS");
	page_namespace(page, 1, 2, 0);
	ok(nvme_namespace_decode(page, sizeof(page), &n) == -EINVAL, "a format that does not exist");
	page_namespace(page, 1, 0x61, 0);
	ok(nvme_namespace_decode(page, sizeof(page), &n) == 0 && n.format == 1, "old drives use bits 6:5 for nothing");
	page[25] = 63;
	ok(nvme_namespace_decode(page, sizeof(page), &n) == 0 && n.format == 0x31, "with more than 16 they count");
	page[25] = 64;
	ok(nvme_namespace_decode(page, sizeof(page), &n) == -EINVAL, "more formats than there can be");
	page_namespace(page, 1, 0, 4);
	ok(nvme_namespace_decode(page, sizeof(page), &n) == -EINVAL, "a protection that does not exist");
	ok(nvme_namespace_decode(page, 100, &n) == -EINVAL, "a short one");
}

static void test_log(void) {
	struct nvme_sanitize s;

	page_sanitize(page, 655, 2, 4, NVME_ALL, 120, 3);
	ok(nvme_sanitize_decode(page, NVME_LOG, &s) == 0 && s.progress == 655 && s.state == NVME_RUNNING, "at work");
	ok(s.action == NVME_SANACT_CRYPTO && s.estimate_overwrite == NVME_ALL && s.estimate_block == 120 &&
		   s.estimate_crypto == 3,
	   "command and estimates");
	page_sanitize(page, 65535, 0x101, 0x13, 0, 0, 0);
	ok(nvme_sanitize_decode(page, NVME_LOG, &s) == 0 && s.state == NVME_DONE && s.action == NVME_SANACT_OVERWRITE,
	   "done, with global data erased");
	page_sanitize(page, 0, 5, 0, 0, 0, 0);
	ok(nvme_sanitize_decode(page, NVME_LOG, &s) == -EINVAL, "a state that does not exist");
	ok(nvme_sanitize_decode(page, NVME_LOG - 1, &s) == -EINVAL, "a short one");
}

static void test_list(void) {
	static uint32_t list[NVME_LIST_MAX];
	unsigned count;

	memset(page, 0, sizeof(page));
	ok(nvme_list_decode(page, sizeof(page), list, &count) == 0 && count == 0, "no namespace");
	put_le32(page, 1);
	put_le32(page + 4, 9);
	ok(nvme_list_decode(page, sizeof(page), list, &count) == 0 && count == 2 && list[1] == 9, "two");
	put_le32(page + 8, 9);
	ok(nvme_list_decode(page, sizeof(page), list, &count) == -EINVAL, "one twice");
	for (unsigned i = 0; i < NVME_LIST_MAX; i++)
		put_le32(page + 4u * i, i + 1);
	ok(nvme_list_decode(page, sizeof(page), list, &count) == -E2BIG, "a full list may go on");
	ok(nvme_list_decode(page, 12, list, &count) == -EINVAL, "a short one");
}

static void test_status(void) {
	char text[96];

	nvme_status_text(0x4001, text, sizeof(text));
	same(text, "status 0x001, the drive does not know the command", "with Do Not Retry, as QEMU answers Sanitize");
	nvme_status_text(0x7ff, text, sizeof(text));
	same(text, "status 0x7ff, unknown", "another");
}

int main(void) {
	test_commands();
	test_controller();
	test_namespace();
	test_log();
	test_list();
	test_status();
	return tap_done();
}
