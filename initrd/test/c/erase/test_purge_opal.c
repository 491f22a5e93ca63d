// SPDX-License-Identifier: Apache-2.0
// A drive of Opal that is reverted by its PSID, refuses it, lies and is locked; an ATA drive otherwise.
#include <linux/sed-opal.h>

#include "drive/psids.h"
#include "drive/memory_ata.h"
#include "one_purge.h"
#include "tap.h"

#define GOOD "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
#define WRONG "WRONGWRONGWRONGWRONGWRONGWRONG00"

static struct memory_ata drive;
static struct {
	bool is_there, lies, locked_out;
	unsigned attempts, reverts;
	char last[PSID + 1];
} opal;

static int opal_double(struct drive *d, const char *psid) {
	(void)d;
	if (!opal.is_there)
		return -EOPNOTSUPP;
	if (!psid)
		return OPAL_FL_SUPPORTED | OPAL_FL_LOCKING_SUPPORTED;
	opal.attempts++;
	snprintf(opal.last, sizeof(opal.last), "%s", psid);
	if (opal.locked_out)
		return 0x12;
	if (strcmp(psid, GOOD) != 0)
		return 0x01;
	opal.reverts++;
	lock_disk(&m, false);
	if (!opal.lies)
		erase_disk_at_once(&m, 7, true, 0, 0);
	return 0;
}

static void begin(const char *psids) {
	static struct drive_ops ops;

	drive = (struct memory_ata){.disk = &m};
	memset(&opal, 0, sizeof(opal));
	opal.is_there = true;
	ops = ata_double;
	ops.opal = opal_double;
	begin_one(&ops, &drive, METHOD_OPAL_PSID_REVERT);
	snprintf(batch.jobs[0].disk.serial, sizeof(batch.jobs[0].disk.serial), "S 1");
	batch.psids = psids;
}

static bool untouched(void) { return opal.reverts == 0 && m.changes == 0 && kept(&m); }

static void test_good(void) {
	const struct erase *erase;

	begin("# rack 1\nS 2 " WRONG "\nS 1 " GOOD "\n");
	ok(run() == CODE_DONE && opal.attempts == 1 && opal.reverts == 1 && !kept(&m), "%s", fault.text);
	erase = &batch.jobs[0].erase;
	ok(!strcmp(erase->method, "opal-psid-revert") && erase->compared == 512 &&
		   !strcmp(erase->reported, "Opal revert: status 0x00"),
	   "the record: %s", erase->reported);
	begin("S 1\tabcdefgh-ijklmnop-qrstuvwx-yz012345\r\n");
	ok(run() == CODE_DONE && !strcmp(opal.last, GOOD), "as it is printed on a label");
	begin("S 1 " GOOD);
	lock_disk(&m, true);
	ok(run() == CODE_DONE && opal.reverts == 1, "a drive that is locked, and returns no data: %s", fault.text);
}

static void test_bad(void) {
	begin("S 1 " WRONG);
	ok(run() == CODE_UNSUPPORTED && untouched() && opal.attempts == 1 && strstr(fault.text, "refuses its PSID") &&
		   !strstr(fault.text, WRONG),
	   "one attempt, and its text is a secret: %s", fault.text);
	begin("S 1 " GOOD);
	opal.locked_out = true;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "power the drive off"), "%s", fault.text);
	begin("S 1 " GOOD);
	opal.lies = true;
	ok(run() == CODE_INTEGRITY && strstr(fault.text, "was not erased"), "%s", fault.text);
	begin("S 10 " GOOD "\nS " GOOD "\n");
	ok(run() == CODE_UNSUPPORTED && untouched() && opal.attempts == 0, "the PSID of another drive: %s", fault.text);
	begin(NULL);
	ok(run() == CODE_UNSUPPORTED && untouched() && opal.attempts == 0 && strstr(fault.text, "no PSID"),
	   "none is known: %s", fault.text);
	begin("S 1 " GOOD);
	drive.dco = 2048;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "hides"), "%s", fault.text);
	begin("S 1 " GOOD);
	drive.hpa = 2048;
	ok(run() == CODE_UNSUPPORTED && untouched(), "nor one whose hidden sectors another method would lift: %s",
	   fault.text);
	begin("S 1 " GOOD);
	batch.jobs[0].erase.by = METHOD_AUTO;
	ok(run() == CODE_UNSUPPORTED && untouched() && strstr(fault.text, "only when named"), "%s", fault.text);
}

// The drives of a machine are of several kinds: those without Opal take their own commands.
static void test_other(void) {
	begin("S 1 " GOOD);
	opal.is_there = false;
	ok(run() == CODE_UNSUPPORTED && untouched() && opal.attempts == 0, "no Opal, and no Sanitize: %s", fault.text);
}

static void test_file(void) {
	char psid[PSID + 1];

	ok(psids_check("", &fault) == 0 && psids_check("\n# text\nS1 " GOOD "\n", &fault) == 0, "good files");
	ok(psids_check("S1 " GOOD "\nS2 short\n", &fault) < 0 && fault.code == CODE_USAGE &&
		   strstr(fault.text, "line 2") && !strstr(fault.text, "short"),
	   "%s", fault.text);
	ok(psids_check(GOOD "\n", &fault) < 0, "without a serial number: %s", fault.text);
	ok(psids_check("S1 " GOOD "6\n", &fault) < 0, "too long: %s", fault.text);
	ok(psids_find("S1 " GOOD, "S1", psid) == 0 && !strcmp(psid, GOOD), "the last line may lack its end");
	ok(psids_find("S1 " GOOD, "", psid) == -ENOENT && !*psid, "a drive without a serial number has none");
}

int main(void) {
	test_good();
	test_bad();
	test_other();
	test_file();
	finish();
	return tap_done();
}
