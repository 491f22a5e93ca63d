// SPDX-License-Identifier: Apache-2.0
// A SCSI drive that erases itself, refuses, lies and never ends.
#include "drive/memory_scsi.h"
#include "one_purge.h"
#include "tap.h"

static struct memory_scsi drive;

static void begin(enum erase_method by) {
	drive = (struct memory_scsi){.disk = &m, .vendor = "SEAGATE", .has = 14, .seconds = 60, .step = 20000};
	begin_one(&scsi_double, &drive, by);
}

static bool untouched(void) { return drive.sanitizes == 0 && m.changes == 0 && kept(&m); }

static void test_refusals(void) {
	begin(METHOD_AUTO);
	drive.has = 0;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "SEAGATE DISK has no SANITIZE"), "%s",
	   fault.text);
	begin(METHOD_AUTO);
	drive.seconds = 0;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "only when named"), "no estimate: %s",
	   fault.text);
	begin(METHOD_SCSI_SANITIZE_CRYPTO);
	drive.has = 4;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "scsi-sanitize-block"), "%s", fault.text);
	begin(METHOD_NVME_FORMAT_USER);
	batch.jobs[0].erase.level = ERASE_CLEAR;
	ok(run() == CODE_UNSUPPORTED && untouched(), "a clear by a command of NVMe: %s", fault.text);
	begin(METHOD_SCSI_SANITIZE_BLOCK);
	drive.refuses_key = 7;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "locked"), "locked: %s", fault.text);
	begin(METHOD_SCSI_SANITIZE_BLOCK);
	drive.refuses_status = 0x18;
	ok(run() == CODE_DISK && untouched(), "reserved: %s", fault.text);
	begin(METHOD_AUTO);
	drive.refuses_key = 5;
	ok(run() == CODE_UNSUPPORTED && untouched(), "auto, and all are refused: %s", fault.text);
	begin(METHOD_SCSI_SANITIZE_BLOCK);
	drive.refuses_status = -EIO;
	ok(run() == CODE_FAILED, "no answer: %s", fault.text);
}

static void test_good(enum erase_method by, bool is_fixed) {
	begin(by);
	drive.is_fixed = is_fixed;
	ok(run() == CODE_DONE && drive.sanitizes == 1 && !kept(&m) && batch.jobs[0].erase.compared == 512, "%s: %s",
	   batch.jobs[0].erase.method, batch.jobs[0].erase.reported);
	begin(by);
	drive.lies = true;
	ok(run() == CODE_INTEGRITY, "%s", fault.text);
}

static void test_course(void) {
	begin(METHOD_AUTO);
	ok(run() == CODE_DONE && drive.action == SCSI_SANITIZE_CRYPTO, "auto takes the first of the same time");
	begin(METHOD_SCSI_SANITIZE_OVERWRITE);
	drive.seconds = 0;
	drive.stuck_at = 655;
	ok(run() == CODE_FAILED && strstr(fault.text, "655 of 65536") && drive.now >= 7200 * SECOND, "stuck: %s",
	   fault.text);
	begin(METHOD_SCSI_SANITIZE_BLOCK);
	drive.fails = true;
	ok(run() == CODE_FAILED && strstr(fault.text, "code 0x31/0x03"), "failed: %s", fault.text);
	drive.fails = false;
	ok(run() == CODE_DONE && drive.sanitizes == 2, "run again, out of the failed state");
	begin(METHOD_SCSI_SANITIZE_BLOCK);
	drive.running = true;
	drive.action = SCSI_SANITIZE_BLOCK;
	drive.progress = 30000;
	lock_disk(&m, true);
	ok(run() == CODE_DONE && drive.sanitizes == 1, "one at work since before a power cut is waited for");
}

// Of a machine with drives of several kinds.
static void test_other_kind(void) {
	begin(METHOD_ATA_SANITIZE_BLOCK);
	ok(run() == CODE_DONE && drive.sanitizes == 1, "a purge by a command of ATA takes auto: %s",
	   batch.jobs[0].erase.method);
}

int main(void) {
	test_refusals();
	test_good(METHOD_SCSI_SANITIZE_BLOCK, false);
	test_good(METHOD_SCSI_SANITIZE_CRYPTO, true);
	test_good(METHOD_SCSI_SANITIZE_OVERWRITE, false);
	test_course();
	test_other_kind();
	finish();
	return tap_done();
}
