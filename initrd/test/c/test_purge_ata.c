// SPDX-License-Identifier: Apache-2.0
// An ATA drive that erases itself, refuses, is frozen, lies and never ends.
#include "erase/fleet.h"
#include "memory_ata.h"
#include "tap.h"

#define MIB ((uint64_t)1 << 20)

static struct memory_disk m;
static struct memory_ata drive;
static struct erase_fleet fleet;
static struct fault fault;

static void finish(void) {
	free(m.data);
	m.data = NULL;
	fleet_free(&fleet);
}

static void begin(enum erase_method by) {
	struct erase_job *job;

	finish();
	drive = (struct memory_ata){.disk = &m, .word59 = 0xf000, .step = 20000};
	fleet = (struct erase_fleet){.count = 1, .jobs = calloc(1, sizeof(*fleet.jobs)), .drive_ops = &ata_double};
	job = &fleet.jobs[0];
	job->device = memory_open(&m, 2 * MIB, 512);
	for (uint64_t at = 0; at < m.bytes; at += 8) // bytes that are not repeated, as of a tenant
		put_le64(m.data + at, at * 0x9e3779b97f4a7c15u + 1);
	job->drive_context = &drive;
	job->erase = (struct erase){.level = ERASE_PURGE, .by = by};
	snprintf(job->disk.name, sizeof(job->disk.name), "sda");
	snprintf(job->device.name, sizeof(job->device.name), "sda");
}

static enum exit_code run(void) {
	fleet.jobs[0].result = ERASED;
	if (fleet_erase(&fleet, &fault) < 0)
		return CODE_FAILED;
	fault = fleet.jobs[0].fault;
	return fleet_code(&fleet);
}

static bool untouched(void) { return drive.sanitizes == 0 && m.changes == 0 && get_le64(m.data) == 1; }

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
	ok(run() == CODE_UNSUPPORTED && untouched(), "a command of SCSI: %s", fault.text);
}

static void test_good(enum erase_method by) {
	begin(by);
	ok(run() == CODE_DONE && drive.sanitizes == 1 && get_le64(m.data) != 1 && fleet.jobs[0].erase.compared == 512,
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
	ata_lock(&drive, true);
	ok(run() == CODE_DONE && drive.sanitizes == 1, "one at work since before a power cut is waited for");
}

int main(void) {
	test_refusals();
	test_good(METHOD_ATA_SANITIZE_BLOCK);
	test_good(METHOD_ATA_SANITIZE_CRYPTO);
	test_good(METHOD_ATA_SANITIZE_OVERWRITE);
	test_course();
	finish();
	return tap_done();
}
