// SPDX-License-Identifier: Apache-2.0
// An eMMC that erases itself: its wire structures, refusals, a protected part, a liar and a power cut.
#include "drive/memory_mmc.h"
#include "one_purge.h"
#include "tap.h"

static struct memory_mmc drive;

static void begin(enum erase_method by) {
	drive = (struct memory_mmc){.disk = &m, .revision = 8, .features = 0x51};
	begin_one(&mmc_double_ops, &drive, by);
}

static bool untouched(void) { return drive.erases == 0 && m.changes == 0 && kept(&m); }

static void test_structures(void) {
	struct mmc_command c[3];
	struct mmc_csd csd;
	uint8_t page[MMC_PAGE];

	page_csd(page, 8, 0x51, 1000000);
	page[224] = 8;
	page[223] = 5;
	ok(mmc_csd_decode(page, sizeof(page), &csd) == 0 && csd.sectors == 1000000 && csd.has_secure_erase &&
		   csd.has_trim && csd.has_sanitize && csd.groups == 123,
	   "extended CSD");
	ok(csd.erase_seconds == 185 && csd.secure_seconds == 1850, "timeouts: %llu, %llu",
	   (unsigned long long)csd.erase_seconds, (unsigned long long)csd.secure_seconds);
	mmc_erase(&csd, MMC_SECURE_ERASE, c);
	ok(c[0].opcode == 35 && c[0].argument == 0 && c[1].opcode == 36 && c[1].argument == 999999u * 512 &&
		   c[2].opcode == 38 && c[2].argument == 0x80000000 && c[2].waits && !c[0].waits,
	   "addressed in bytes up to 2 GiB");
	csd.sectors = 0xffffffff;
	mmc_erase(&csd, MMC_TRIM, c);
	ok(c[1].argument == 0xfffffffe && c[2].argument == 1, "in sectors above");
	mmc_sanitize(c);
	ok(c->opcode == 6 && c->argument == 0x03a50101 && c->waits, "SANITIZE_START");
	mmc_read_csd(c);
	ok(c->opcode == 8 && c->argument == 0 && c->reads, "SEND_EXT_CSD");
	ok(mmc_csd_decode(page, 511, &csd) == -EINVAL, "a short one");
	page[192] = 4;
	ok(mmc_csd_decode(page, sizeof(page), &csd) == -EINVAL, "an old one");
	page_csd(page, 8, 0, 0);
	ok(mmc_csd_decode(page, sizeof(page), &csd) == -EINVAL, "without a size");
	ok(!mmc_is_error(0x900) && mmc_is_error(0x900 | 1u << 15) && mmc_is_error(0x80000000) && mmc_is_error(0x80) &&
		   !mmc_is_error(1u << 25),
	   "errors in a status");
}

static void test_good(void) {
	begin(METHOD_AUTO);
	ok(run() == CODE_DONE && drive.trims == 1 && drive.plain == 0 && drive.sanitizes == 1 && !kept(&m),
	   "trim, then Sanitize: %s", batch.jobs[0].erase.reported);
	same(batch.jobs[0].erase.method, "mmc-sanitize", "auto");
	begin(METHOD_AUTO);
	drive.features = 0x40;
	ok(run() == CODE_DONE && drive.trims == 0 && drive.plain == 1 && drive.sanitizes == 1, "erase without trim");
	begin(METHOD_AUTO);
	drive.features = 0x11;
	drive.revision = 5;
	ok(run() == CODE_DONE && drive.secure == 1 && drive.sanitizes == 0, "an older one: %s",
	   batch.jobs[0].erase.reported);
	same(batch.jobs[0].erase.method, "mmc-secure-erase", "auto");
	begin(METHOD_MMC_SECURE_ERASE);
	ok(run() == CODE_DONE && drive.secure == 1 && drive.sanitizes == 0, "named");
}

static void test_refusals(void) {
	begin(METHOD_AUTO);
	drive.features = 0x10;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "neither Sanitize nor"),
	   "trim alone is not enough: %s", fault.text);
	begin(METHOD_MMC_SANITIZE);
	drive.features = 0x11;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "mmc-secure-erase"), "%s", fault.text);
	begin(METHOD_AUTO);
	drive.revision = 0;
	ok(run() == CODE_UNSUPPORTED && untouched(), "an SD card: %s", fault.text);
	begin(METHOD_AUTO);
	drive.bytes = UINT64_C(4) << 20;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "the eMMC has 4194304 bytes"), "%s",
	   fault.text);
	begin(METHOD_NVME_FORMAT_USER);
	batch.jobs[0].erase.level = ERASE_CLEAR;
	ok(run() == CODE_UNSUPPORTED && untouched(), "a clear by a command of NVMe: %s", fault.text);
}

static void test_course(void) {
	begin(METHOD_AUTO);
	drive.refuses_sanitize = true;
	ok(run() == CODE_FAILED && drive.trims == 1 && strstr(fault.text, "SANITIZE_START"),
	   "a trim without Sanitize is no purge: %s", fault.text);
	begin(METHOD_MMC_SECURE_ERASE);
	drive.skips = true;
	ok(run() == CODE_FAILED && strstr(fault.text, "after ERASE with status 0x00008900"),
	   "a part is write protected: %s", fault.text);
	begin(METHOD_AUTO);
	drive.lies = true;
	ok(run() == CODE_INTEGRITY, "a liar: %s", fault.text);
	begin(METHOD_AUTO);
	drive.dies_at = 38;
	ok(run() == CODE_FAILED, "its power is cut: %s", fault.text);
	drive.dies_at = 0;
	ok(run() == CODE_DONE && drive.sanitizes == 1, "the next boot does all of it");
}

int main(void) {
	test_structures();
	test_good();
	test_refusals();
	test_course();
	finish();
	return tap_done();
}
