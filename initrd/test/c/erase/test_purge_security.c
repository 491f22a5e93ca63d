// SPDX-License-Identifier: Apache-2.0
// Security Erase of an ATA drive: when it is taken, what refuses it, and what an interruption leaves.
#include "erase/level.h"
#include "drive/memory_ata.h"
#include "one_purge.h"
#include "tap.h"

#define ENHANCED METHOD_ATA_SECURITY_ERASE_ENHANCED

static struct memory_ata drive;
static struct memory_security *s = &drive.security;

static void begin(enum erase_method by) {
	drive = (struct memory_ata){.disk = &m,
				    .security = {.supported = true, .has_enhanced = true, .word89 = 20, .word90 = 2}};
	begin_one(&ata_double, &drive, by);
	if (by == METHOD_ATA_SECURITY_ERASE)
		batch.jobs[0].erase.level = ERASE_CLEAR;
}

static void set_password(const char *password) {
	s->has_password = true;
	memset(s->password, 0, sizeof(s->password));
	memcpy(s->password, password, strlen(password));
}

// No password was set, and no byte changed.
static bool untouched(void) { return s->sets == 0 && s->erases == 0 && m.changes == 0 && kept(&m); }

static void test_never_by_auto(void) {
	struct fault f;

	begin(METHOD_AUTO);
	ok(run() == CODE_UNSUPPORTED && untouched() &&
		   strstr(fault.text, "ata-security-erase (only when named), ata-security-erase-enhanced (only when"),
	   "%s", fault.text);
	begin(METHOD_AUTO);
	drive.word59 = 0xf000;
	ok(run() == CODE_UNSUPPORTED && untouched(), "nor beside a Sanitize");
	ok(erase_level_check(ERASE_PURGE, METHOD_ATA_SECURITY_ERASE, &f) < 0 && f.code == CODE_USAGE,
	   "the normal one is no purge: %s", f.text);
	ok(erase_level_check(ERASE_CLEAR, METHOD_ATA_SECURITY_ERASE, &f) == 0 &&
		   erase_level_check(ERASE_PURGE, ENHANCED, &f) == 0 &&
		   erase_level_check(ERASE_EMPTY, ENHANCED, &f) < 0,
	   "levels of both");
}

static void test_good(void) {
	begin(METHOD_ATA_SECURITY_ERASE);
	ok(run() == CODE_DONE && s->erases == 1 && s->enhanced == 0 && !s->has_password && !kept(&m) &&
		   batch.jobs[0].erase.compared == 512,
	   "%s: %s", batch.jobs[0].erase.method, batch.jobs[0].erase.reported);
	same(batch.jobs[0].erase.method, "ata-security-erase", "method");
	begin(ENHANCED);
	ok(run() == CODE_DONE && s->erases == 1 && s->enhanced == 1 && !s->has_password, "%s: %s",
	   batch.jobs[0].erase.method, batch.jobs[0].erase.reported);
	same(batch.jobs[0].erase.reported, "SECURITY ERASE UNIT, enhanced: ended; IDENTIFY DEVICE, word 128: 0x0021",
	     "reported");
	begin(ENHANCED);
	drive.lies = true;
	ok(run() == CODE_INTEGRITY && s->erases == 1, "one that lies: %s", fault.text);
}

static void test_refusals(void) {
	begin(ENHANCED);
	s->supported = false;
	ok(run() == CODE_UNSUPPORTED && untouched(), "no passwords: %s", fault.text);
	begin(ENHANCED);
	s->has_enhanced = false;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "offers ata-security-erase (only"), "%s",
	   fault.text);
	begin(ENHANCED);
	s->frozen = true;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "is frozen: power the drive off and on"),
	   "%s", fault.text);
	begin(ENHANCED);
	drive.hides_registers = true;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "no registers"),
	   "a controller that hides refusals: %s", fault.text);
	begin(ENHANCED);
	s->takes_none = true;
	ok(run() == CODE_UNSUPPORTED && s->erases == 0 && kept(&m), "%s", fault.text);
	begin(ENHANCED);
	s->refuses_prepare = true;
	ok(run() == CODE_UNSUPPORTED && s->sets == 1 && !s->has_password && kept(&m),
	   "refused, and the password is taken off: %s", fault.text);
	begin(ENHANCED);
	s->refuses_erase = true;
	ok(run() == CODE_FAILED && s->erases == 0 && !s->has_password && kept(&m),
	   "aborted, and the password is taken off: %s", fault.text);
	begin(ENHANCED);
	s->keeps_password = true;
	ok(run() == CODE_FAILED && strstr(fault.text, "still has a password"), "%s", fault.text);
}

static void test_foreign_password(void) {
	begin(ENHANCED);
	set_password("tenant");
	security_power_cycle(s, &m);
	ok(run() == CODE_UNSUPPORTED && s->wrong == 1 && s->has_password && s->locked && s->sets == 0,
	   "locked by another: %s", fault.text);
	begin(ENHANCED);
	set_password("tenant");
	ok(run() == CODE_UNSUPPORTED && untouched() && s->has_password, "its firmware unlocked it: %s", fault.text);
	begin(ENHANCED);
	set_password(ATA_PASSWORD);
	security_power_cycle(s, &m);
	s->wrong = 5;
	ok(run() == CODE_UNSUPPORTED && s->locked && strstr(fault.text, "tried too often"), "%s", fault.text);
	begin(METHOD_ATA_SANITIZE_BLOCK);
	drive.word59 = 0xf000;
	drive.step = 20000;
	set_password(ATA_PASSWORD);
	security_power_cycle(s, &m);
	ok(run() == CODE_DONE && drive.sanitizes == 1 && !s->has_password, "Sled's password stops no other method");
}

static void test_interrupted(void) {
	begin(ENHANCED);
	s->loses_power = true;
	ok(run() == CODE_FAILED && s->has_password && strstr(fault.text, "the password \"sled\""),
	   "its power is cut: %s", fault.text);
	security_power_cycle(s, &m);
	ok(run() == CODE_DONE && s->erases == 1 && !s->has_password && !s->locked && s->wrong == 0,
	   "the next boot unlocks it, and erases it: %s", fault.text);
	begin(ENHANCED);
	set_password(ATA_PASSWORD);
	ok(run() == CODE_DONE && s->erases == 1 && !s->has_password, "only the machine restarted, before the erase");
}

// A wipe that needs no command of the drive, after one that was interrupted.
static void test_other_levels(void) {
	begin(METHOD_AUTO);
	batch.jobs[0].erase.level = ERASE_EMPTY;
	set_password(ATA_PASSWORD);
	security_power_cycle(s, &m);
	ok(run() == CODE_DONE && !s->has_password, "empty unlocks what Sled locked: %s", fault.text);
	begin(METHOD_AUTO);
	batch.jobs[0].erase.level = ERASE_EMPTY;
	set_password("tenant");
	security_power_cycle(s, &m);
	ok(run() == CODE_FAILED && s->has_password && s->locked, "and nothing else: %s", fault.text);
}

int main(void) {
	test_never_by_auto();
	test_good();
	test_refusals();
	test_foreign_password();
	test_interrupted();
	test_other_levels();
	finish();
	return tap_done();
}
