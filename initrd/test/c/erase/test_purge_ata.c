// SPDX-License-Identifier: Apache-2.0
// An ATA drive that erases itself, refuses, is frozen, lies and never ends.
#include "drive/memory_ata.h"
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
	batch.jobs[0].erase.level = ERASE_CLEAR;
	ok(run() == CODE_UNSUPPORTED && untouched(), "a clear by a command of NVMe: %s", fault.text);
}

// What is lifted for good, or by no command, is named and refused.
static void test_hidden(void) {
	begin(METHOD_ATA_SANITIZE_BLOCK);
	drive.amac = UINT64_C(1) << 33;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "SSD 9 hides 4398046511104 bytes by AMAC"),
	   "%s", fault.text);
	begin(METHOD_AUTO);
	drive.dco = 100;
	drive.hpa = 10;
	ok(run() == CODE_UNSUPPORTED && untouched() && drive.lifts == 0 &&
		   strstr(fault.text, "SSD 9 hides 5120 bytes by HPA, 46080 bytes by DCO"),
	   "each beyond the one before it: %s", fault.text);
	begin(METHOD_ATA_SANITIZE_BLOCK);
	drive.hpa = drive.dco = 10;
	drive.is_short = true;
	ok(run() == CODE_UNSUPPORTED && untouched() && drive.lifts == 0 && strstr(fault.text, "5120 bytes by HPA"),
	   "without 48 bits: %s", fault.text);
	begin(METHOD_ATA_SANITIZE_BLOCK);
	drive.hpa = 2048;
	drive.refuses_native = true;
	ok(run() == CODE_DONE && drive.sanitizes == 1, "one that does not answer hides nothing that it reports");
	begin(METHOD_AUTO);
	batch.jobs[0].erase.level = ERASE_CLEAR;
	drive.hpa = 2048;
	ok(run() == CODE_DONE && drive.lifts == 0, "clear promises nothing about it");
}

// A host protected area is lifted for a command that is named, until the power is cut.
static void test_lift(void) {
	begin(METHOD_ATA_SANITIZE_BLOCK);
	drive.hpa = 2048;
	ok(run() == CODE_DONE && drive.lifts == 1 && drive.lifted == 2048 && drive.sanitizes == 1 && !kept(&m) &&
		   strstr(batch.jobs[0].erase.reported, "; lifted an HPA of 1048576 bytes"),
	   "%s", batch.jobs[0].erase.reported);
	ok(run() == CODE_DONE && drive.lifts == 1, "lifted once");
	begin(METHOD_ATA_SANITIZE_BLOCK);
	drive.hpa = UINT64_C(1) << 40;
	ok(run() == CODE_DONE && strstr(batch.jobs[0].erase.reported, "of 562949953421312 bytes"), "a large one: %s",
	   batch.jobs[0].erase.reported);
	begin(METHOD_AUTO);
	drive.hpa = 2048;
	ok(run() == CODE_UNSUPPORTED && untouched() && drive.lifts == 0 &&
		   strstr(fault.text, "hides 1048576 bytes by HPA; the drive offers ata-sanitize-"),
	   "not by auto: %s", fault.text);
	begin(METHOD_ATA_SANITIZE_BLOCK);
	drive.hpa = 2048;
	drive.refuses_max = true;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "sda hides 1048576 bytes by HPA: ") &&
		   strstr(fault.text, "refuses SET MAX ADDRESS EXT"),
	   "refused: %s", fault.text);
	begin(METHOD_ATA_SANITIZE_BLOCK);
	drive.hpa = 2048;
	drive.ignores_max = true;
	ok(run() == CODE_UNSUPPORTED && untouched() && drive.lifts == 1 &&
		   strstr(fault.text, "sda hides 1048576 bytes by HPA; nothing was erased"),
	   "reported, and not done: %s", fault.text);
}

static void test_good(enum erase_method by) {
	begin(by);
	ok(run() == CODE_DONE && drive.sanitizes == 1 && !kept(&m) && batch.jobs[0].erase.compared == 512, "%s: %s",
	   batch.jobs[0].erase.method, batch.jobs[0].erase.reported);
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
	test_lift();
	test_good(METHOD_ATA_SANITIZE_BLOCK);
	test_good(METHOD_ATA_SANITIZE_CRYPTO);
	test_good(METHOD_ATA_SANITIZE_OVERWRITE);
	test_course();
	finish();
	return tap_done();
}
