// SPDX-License-Identifier: Apache-2.0
// A drive that erases itself: first what must not be erased, then drives that refuse, lie and never end.
#include "erase/batch.h"
#include "drive/memory_drive.h"
#include "tap.h"

#define MIB ((uint64_t)1 << 20)

static struct memory_disk m[DOUBLE_MAX];
static struct memory_drive drive;
static struct memory_unit units[DOUBLE_MAX];
static struct erase_batch batch;
static struct fault fault;

static bool zero(const struct memory_disk *disk) { return is_zero(disk->data, disk->bytes); }

static void finish(void) {
	for (unsigned i = 0; i < DOUBLE_MAX; i++)
		free(m[i].data), m[i].data = NULL;
	batch_free(&batch);
}

// A drive with that many namespaces of 2 MiB, all of which are to be purged.
static void begin(unsigned count, enum erase_method by) {
	finish();
	drive = (struct memory_drive){.oacs = 2, .sanicap = 7, .estimate = 60, .step = 20000};
	batch = (struct erase_batch){
		.count = count, .jobs = calloc(count, sizeof(*batch.jobs)), .drive_ops = &double_ops};
	for (unsigned i = 0; i < count; i++) {
		struct erase_job *job = &batch.jobs[i];
		job->device = memory_open(&m[i], 2 * MIB, 512);
		fill(&m[i]);
		drive.disks[i] = &m[i];
		units[i] = (struct memory_unit){&drive, i + 1};
		job->drive_context = &units[i];
		job->erase = (struct erase){.level = ERASE_PURGE, .by = by};
		snprintf(job->disk.name, sizeof(job->disk.name), "nvme0n%u", i + 1);
		snprintf(job->device.name, sizeof(job->device.name), "nvme0n%u", i + 1);
		snprintf(job->disk.drive, sizeof(job->disk.drive), "nvme0");
	}
}

static enum exit_code run(void) {
	if (batch_erase(&batch, &fault) < 0)
		return CODE_FAILED;
	fault = batch.jobs[0].fault;
	return batch_code(&batch);
}

static bool untouched(void) {
	for (unsigned i = 0; i < DOUBLE_MAX; i++)
		if (m[i].data && !kept(&m[i]))
			return false;
	return drive.sanitizes + drive.formats == 0;
}

static void leave(unsigned i, const char *why) {
	batch.jobs[i].result = ERASE_LEFT_OUT;
	fault_set(&batch.jobs[i].fault, CODE_DISK, "%s", why);
}

// Another namespace of the drive is not to be erased: kept, in use, not named, detached, or not known.
static void test_scope(enum erase_method by, unsigned fna) {
	begin(2, by);
	drive.fna = fna;
	leave(1, "on the keep list");
	ok(run() == CODE_DISK && untouched() && strstr(fault.text, "nvme0n2: on the keep list"), "kept: %s",
	   fault.text);
	begin(2, by);
	drive.fna = fna;
	batch.jobs[1].result = ERASE_FAILED;
	fault_set(&batch.jobs[1].fault, CODE_DISK, "mounted at /srv");
	ok(run() == CODE_DISK && untouched() && strstr(fault.text, "mounted at /srv"), "mounted: %s", fault.text);
	begin(2, by);
	drive.fna = fna;
	batch.count = 1;
	ok(run() == CODE_DISK && untouched() && strstr(fault.text, "namespace 2"), "not named: %s", fault.text);
	batch.count = 2;
	begin(1, by);
	drive.fna = fna;
	drive.oacs |= 8;
	drive.detached = 7;
	ok(run() == CODE_DISK && untouched() && strstr(fault.text, "namespace 7"), "detached: %s", fault.text);
	begin(1, by);
	drive.fna = fna;
	drive.cmic = 2;
	ok(run() == CODE_DISK && untouched(), "of another controller: %s", fault.text);
	begin(1, by);
	drive.fna = fna;
	drive.refuses_lists = true;
	ok(run() == CODE_DISK && untouched(), "no list: %s", fault.text);
	begin(1, by);
	drive.fna = fna;
	drive.appears_after = 1;
	ok(run() == CODE_DISK && untouched() && strstr(fault.text, "namespace 99"), "made meanwhile: %s", fault.text);
}

// Two drives that look like one: their namespaces must not stand in for each other.
static void test_two_drives(void) {
	static struct memory_drive other;

	begin(2, METHOD_NVME_SANITIZE_BLOCK);
	other = drive;
	other.serial = "S2";
	other.disks[0] = NULL;
	units[1].drive = &other;
	ok(run() == CODE_DISK && untouched() && other.sanitizes == 0, "under one name: %s", fault.text);
	begin(2, METHOD_NVME_SANITIZE_BLOCK);
	other = drive;
	drive.disks[1] = NULL;
	other.disks[0] = &m[1];
	other.disks[1] = NULL;
	units[1] = (struct memory_unit){&other, 1};
	snprintf(batch.jobs[1].disk.drive, 64, "nvme1");
	ok(run() == CODE_DONE && drive.sanitizes == 1 && other.sanitizes == 1, "under two: each by itself");
}

static void test_auto_stays_within(void) {
	begin(2, METHOD_AUTO);
	leave(1, "on the keep list");
	ok(run() == CODE_DONE && zero(&m[0]) && kept(&m[1]), "auto takes the command that reaches one namespace");
	same(batch.jobs[0].erase.method, "nvme-format-user", "Format");
	begin(2, METHOD_AUTO);
	leave(1, "on the keep list");
	drive.fna = 1;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "would also reach"), "or none: %s",
	   fault.text);
	begin(2, METHOD_NVME_FORMAT_USER);
	drive.fna = 2;
	drive.flbas[1] = 1;
	ok(run() == CODE_UNSUPPORTED && untouched(), "a Format would change the sectors of the other: %s", fault.text);
}

static void test_good(enum erase_method by, bool zeros) {
	begin(2, by);
	drive.fna = 4;
	ok(run() == CODE_DONE && zero(&m[0]) == zeros && !kept(&m[0]) && !kept(&m[1]), "%s",
	   batch.jobs[1].erase.method);
	ok(by == METHOD_NVME_FORMAT_USER || by == METHOD_NVME_FORMAT_CRYPTO ? drive.formats == 2 : drive.sanitizes == 1,
	   "one command for what it reaches");
	ok(batch.jobs[1].erase.compared == 512 && batch.jobs[1].erase.reported[0], "compared and reported: %s",
	   batch.jobs[1].erase.reported);
}

static void test_choice(void) {
	begin(1, METHOD_AUTO);
	ok(run() == CODE_DONE && drive.action == NVME_SANACT_CRYPTO, "auto: Sanitize with an estimate");
	begin(1, METHOD_AUTO);
	drive.estimate = NVME_ALL;
	ok(run() == CODE_DONE && drive.sanitizes == 0 && drive.formats == 1, "without one it takes Format");
	begin(1, METHOD_AUTO);
	drive.estimate = NVME_ALL;
	drive.oacs = 0;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "only when named"), "or none: %s",
	   fault.text);
	begin(1, METHOD_NVME_SANITIZE_BLOCK);
	drive.estimate = NVME_ALL;
	ok(run() == CODE_DONE && drive.sanitizes == 1, "unless it is named");
	begin(1, METHOD_NVME_FORMAT_CRYPTO);
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "nvme-format-user"),
	   "a drive without crypto erase that would say yes: %s", fault.text);
	begin(1, METHOD_AUTO);
	drive.oacs = drive.sanicap = 0;
	ok(run() == CODE_UNSUPPORTED && untouched(), "a drive that has none: %s", fault.text);
	begin(1, METHOD_AUTO);
	units[0].nsid = 0;
	ok(run() == CODE_UNSUPPORTED && untouched(), "no NVMe drive: %s", fault.text);
	begin(1, METHOD_NVME_FORMAT_USER);
	batch.jobs[0].erase.level = ERASE_CLEAR;
	ok(run() == CODE_DONE && zero(&m[0]), "clear by a command");
}

static void test_refusals(void) {
	begin(1, METHOD_NVME_SANITIZE_CRYPTO);
	drive.refuses_sanitize = 0x4001;
	ok(run() == CODE_UNSUPPORTED && untouched() && !batch.jobs[0].erase.method, "refused: %s", fault.text);
	begin(1, METHOD_AUTO);
	drive.refuses_sanitize = 0x4001;
	ok(run() == CODE_DONE && drive.formats == 1, "auto takes the next");
	begin(2, METHOD_AUTO);
	drive.refuses_sanitize = 0x286;
	drive.refuses_format = 0x286;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "locked"), "all are: %s", fault.text);
	begin(1, METHOD_NVME_FORMAT_USER);
	drive.refuses_format = -ETIMEDOUT;
	ok(run() == CODE_FAILED, "no answer: %s", fault.text);
	same(batch.jobs[0].erase.method, "nvme-format-user", "which may have begun");
	begin(1, METHOD_NVME_SANITIZE_BLOCK);
	drive.bad_state = 6;
	ok(run() == CODE_UNSUPPORTED && untouched(), "a log that makes no sense: %s", fault.text);
}

static void test_endless(void) {
	begin(1, METHOD_NVME_SANITIZE_BLOCK);
	drive.estimate = NVME_ALL;
	drive.stuck_at = 655;
	ok(run() == CODE_FAILED && strstr(fault.text, "655 of 65536") && strstr(fault.text, "no progress"), "%s",
	   fault.text);
	ok(drive.now >= 2 * 3600 * SECOND && drive.now < 3 * 3600 * SECOND, "after %lld s, in %u questions",
	   (long long)(drive.now / SECOND), drive.waits);
	begin(1, METHOD_NVME_SANITIZE_BLOCK);
	drive.swings = true;
	ok(run() == CODE_FAILED, "progress that comes and goes: %s", fault.text);
	begin(1, METHOD_NVME_SANITIZE_BLOCK);
	drive.estimate = 3600;
	drive.step = 1; // of 65,536, each ten seconds: a week and a half
	ok(run() == CODE_FAILED && strstr(fault.text, "too long"), "%s", fault.text);
	begin(1, METHOD_NVME_SANITIZE_BLOCK);
	drive.estimate = 1000000;
	drive.step = 1;
	ok(run() == CODE_DONE, "unless the drive estimated that");
}

static void test_failed(void) {
	begin(1, METHOD_NVME_SANITIZE_BLOCK);
	drive.fails = true;
	ok(run() == CODE_FAILED && strstr(fault.text, "Sanitize failed"), "%s", fault.text);
	drive.fails = false;
	batch.jobs[0].result = ERASED;
	ok(run() == CODE_DONE && drive.sanitizes == 2 && zero(&m[0]), "run again, out of the failed state");
	begin(1, METHOD_NVME_SANITIZE_CRYPTO);
	drive.reports_action = NVME_SANACT_BLOCK;
	ok(run() == CODE_FAILED && strstr(fault.text, "another command"), "%s", fault.text);
}

// A power cut while a sanitize is at work, which continues at the next power-on.
static void test_resumed(void) {
	begin(1, METHOD_NVME_SANITIZE_BLOCK);
	drive.state = NVME_RUNNING;
	drive.action = NVME_SANACT_BLOCK;
	drive.progress = 30000;
	double_lock(&drive, true);
	ok(run() == CODE_DONE && drive.sanitizes == 0 && zero(&m[0]), "it is followed, and its result is read back");
	begin(1, METHOD_NVME_SANITIZE_BLOCK);
	drive.state = NVME_RUNNING;
	drive.action = NVME_SANACT_BLOCK;
	drive.lies = true;
	ok(run() == CODE_INTEGRITY && drive.sanitizes == 1, "if that is not empty, another one follows: %s",
	   fault.text);
	begin(1, METHOD_NVME_SANITIZE_CRYPTO);
	drive.state = NVME_RUNNING;
	drive.action = NVME_SANACT_CRYPTO;
	ok(run() == CODE_DONE && drive.sanitizes == 1, "of a crypto erase there is no proof: another one");
	begin(2, METHOD_NVME_FORMAT_USER);
	drive.state = NVME_RUNNING;
	drive.action = NVME_SANACT_CRYPTO;
	leave(1, "on the keep list");
	ok(run() == CODE_DONE && drive.sanitizes == 0 && drive.formats == 1, "a Format waits for it");
}

static void test_lies(enum erase_method by) {
	begin(1, by);
	drive.fna = 4;
	drive.lies = true;
	ok(run() == CODE_INTEGRITY && strstr(fault.text, "byte 0 was not erased"), "%s", fault.text);
}

static void grow(uint64_t bytes, bool full) {
	free(m[0].data);
	batch.jobs[0].device = memory_open(&m[0], bytes, 512);
	batch.jobs[0].erase.full = full;
	fill(&m[0]);
}

// 1 % of the disk is left by drives that return zeros, and by drives that return noise.
static void test_leftovers(enum erase_method by) {
	unsigned seen = 0;

	for (unsigned seed = 0; seed < 20; seed++) {
		begin(1, by);
		drive.fna = 4;
		grow(100 * MIB, false);
		srandom(seed);
		drive.left_from = (16 + (uint64_t)random() % 67) * MIB;
		drive.left_to = drive.left_from + MIB;
		seen += run() == CODE_INTEGRITY;
	}
	ok(seen == 20, "1 %% left: found in %u of 20 runs", seen);
	begin(1, by);
	drive.fna = 4;
	grow(100 * MIB, true);
	drive.left_from = 40 * MIB + 4096;
	drive.left_to = drive.left_from + 4096;
	if (by == METHOD_NVME_FORMAT_USER)
		ok(run() == CODE_INTEGRITY, "4 KiB is found by verify=full: %s", fault.text);
	else
		ok(run() != CODE_FAILED && batch.jobs[0].erase.samples == 1024, "of noise more is not claimed");
}

static void test_bad_range(void) {
	begin(1, METHOD_NVME_FORMAT_USER);
	m[0].bad_from = MIB;
	m[0].bad_to = MIB + 4096;
	ok(run() == CODE_FAILED && strstr(fault.text, "1048576+4096"), "a block that cannot be read: %s", fault.text);
	begin(1, METHOD_NVME_FORMAT_USER);
	m[0].bad_to = m[0].bytes;
	ok(run() == CODE_FAILED && batch.jobs[0].erase.bad.bytes == m[0].bytes, "a dead disk: %s", fault.text);
	ok(m[0].calls < 600, "not all of its blocks are tried before and after: %u reads", m[0].calls);
	begin(1, METHOD_NVME_FORMAT_USER);
	memset(m[0].data, 0xff, m[0].bytes);
	ok(run() == CODE_DONE && batch.jobs[0].erase.compared == 0, "an empty disk: nothing to compare");
}

int main(void) {
	static const enum erase_method all[] = {METHOD_NVME_SANITIZE_BLOCK, METHOD_NVME_SANITIZE_OVERWRITE,
						METHOD_NVME_SANITIZE_CRYPTO, METHOD_NVME_FORMAT_USER,
						METHOD_NVME_FORMAT_CRYPTO};

	test_scope(METHOD_NVME_SANITIZE_BLOCK, 0);
	test_scope(METHOD_NVME_FORMAT_USER, 1);
	test_scope(METHOD_NVME_FORMAT_CRYPTO, 6);
	test_two_drives();
	test_auto_stays_within();
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		test_good(all[i], all[i] != METHOD_NVME_SANITIZE_CRYPTO && all[i] != METHOD_NVME_FORMAT_CRYPTO);
		test_lies(all[i]);
	}
	test_choice();
	test_refusals();
	test_endless();
	test_failed();
	test_resumed();
	test_leftovers(METHOD_NVME_FORMAT_USER);
	test_leftovers(METHOD_NVME_FORMAT_CRYPTO);
	test_bad_range();
	finish();
	return tap_done();
}
