// SPDX-License-Identifier: Apache-2.0
// An ATA drive that erases itself, refuses, is frozen, lies and never ends.
#include "memory_ata.h"
#include "one_purge.h"
#include "tap.h"

static struct memory_ata drive;

static void begin(enum erase_method by) {
	drive = (struct memory_ata){.disk = &m, .word59 = 0xf000, .step = 20000};
	begin_one(&ata_double, &drive, by);
}

static bool untouched(void) { return drive.sanitizes == 0 && m.changes == 0 && kept(&m); }

static void test_refusals(void) {
	begin(METHOD_AUTO);
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "ata-sanitize-block (without an estimate"),
	   "only when named: %s", fault.text);
	begin(METHOD_ATA_SANITIZE_BLOCK);
	drive.word59 = 0;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "SSD 9 has no SANITIZE DEVICE"), "%s",
	   fault.text);
	begin(METHOD_ATA_SANITIZE_OVERWRITE);
	drive.word59 = 0x9000;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "ata-sanitize-block"), "%s", fault.text);
	begin(METHOD_ATA_SANITIZE_BLOCK);
	drive.is_frozen = true;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "power the drive off and on"), "frozen: %s",
	   fault.text);
	begin(METHOD_ATA_SANITIZE_BLOCK);
	drive.word128 = 4;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "locked by a password"), "%s", fault.text);
	begin(METHOD_ATA_SANITIZE_BLOCK);
	drive.refuses = true;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "does not know the command"), "%s",
	   fault.text);
	begin(METHOD_ATA_SANITIZE_BLOCK);
	drive.hides_registers = true;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "no registers"), "%s", fault.text);
	begin(METHOD_ATA_SANITIZE_BLOCK);
	drive.refuses_pass = true;
	ok(run() == CODE_UNSUPPORTED && untouched(), "%s", fault.text);
	begin(METHOD_SCSI_SANITIZE_BLOCK);
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "only when named"), "a command of SCSI: %s",
	   fault.text);
	begin(METHOD_NVME_FORMAT_USER);
	fleet.jobs[0].erase.level = ERASE_CLEAR;
	ok(run() == CODE_UNSUPPORTED && untouched(), "a clear by a command of NVMe: %s", fault.text);
}

static void test_hidden(void) {
	begin(METHOD_ATA_SANITIZE_BLOCK);
	drive.hpa = 2048;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "hides 2048 sectors by a host protected"),
	   "%s", fault.text);
	begin(METHOD_ATA_SANITIZE_BLOCK);
	drive.amac = UINT64_C(1) << 33;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "hides 8589934592 sectors by an accessible"),
	   "%s", fault.text);
	begin(METHOD_AUTO);
	drive.dco = 100;
	drive.hpa = 10;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "hides 100 sectors by a device config"),
	   "the larger of two: %s", fault.text);
	begin(METHOD_ATA_SANITIZE_BLOCK);
	drive.hpa = 2048;
	drive.refuses_native = true;
	ok(run() == CODE_DONE && drive.sanitizes == 1, "one that does not answer hides nothing that it reports");
	begin(METHOD_AUTO);
	fleet.jobs[0].erase.level = ERASE_CLEAR;
	drive.hpa = 2048;
	ok(run() == CODE_DONE, "clear promises nothing about it");
}

static void test_good(enum erase_method by) {
	begin(by);
	ok(run() == CODE_DONE && drive.sanitizes == 1 && !kept(&m) && fleet.jobs[0].erase.compared == 512,
	   "%s: %s", fleet.jobs[0].erase.method, fleet.jobs[0].erase.reported);
	begin(by);
	drive.lies = true;
	ok(run() == CODE_INTEGRITY, "%s", fault.text);
}

static void test_course(void) {
	begin(METHOD_ATA_SANITIZE_OVERWRITE);
	drive.stuck_at = 655;
	ok(run() == CODE_FAILED && strstr(fault.text, "655 of 65536") && drive.now >= 7200 * SECOND, "stuck: %s",
	   fault.text);
	begin(METHOD_ATA_SANITIZE_BLOCK);
	drive.fails = true;
	ok(run() == CODE_FAILED && strstr(fault.text, "Sanitize failed"), "failed: %s", fault.text);
	drive.fails = false;
	ok(run() == CODE_DONE && drive.sanitizes == 2, "run again, out of the failed state");
	begin(METHOD_ATA_SANITIZE_BLOCK);
	drive.running = true;
	drive.feature = ATA_SANITIZE_BLOCK;
	drive.progress = 30000;
	lock_disk(&m, true);
	ok(run() == CODE_DONE && drive.sanitizes == 1, "one at work since before a power cut is waited for");
}

int main(void) {
	test_refusals();
	test_hidden();
	test_good(METHOD_ATA_SANITIZE_BLOCK);
	test_good(METHOD_ATA_SANITIZE_CRYPTO);
	test_good(METHOD_ATA_SANITIZE_OVERWRITE);
	test_course();
	finish();
	return tap_done();
}
