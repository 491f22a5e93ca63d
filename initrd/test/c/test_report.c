// SPDX-License-Identifier: Apache-2.0
#include "node/kernel_log.h"
#include "node/os.h"
#include "node/report.h"
#include "tap.h"

static bool take(struct report *r, const char *line) { return report_take(r, line, strlen(line)); }

static void test_body(void) {
	struct report r = {.generation = "3", .boot = "B", .step = "2", .of = "4", .verb = "write", .begin_due = true};
	struct text text = {0};

	ok(take(&r, "progress bytes=100 total=200 rate=50") && r.progress_due, "progress");
	ok(!take(&r, "progress total=1") && !take(&r, "hello") && !take(&r, "progress  bytes=1") && !take(&r, ""), "other lines");
	report_write(&r, &text);
	same(text_string(&text), "report 1\ngeneration 3\nboot B\nbegin step=2 of=4 verb=write\nprogress step=2 verb=write bytes=100 total=200 rate=50\n", "several lines in one body");
	text_free(&text);
	ok(take(&r, "end code=4") && r.ended && r.code == 4, "end");
	ok(!take(&r, "progress bytes=1"), "nothing comes after the end");
	r.begin_due = r.progress_due = false;
	r.seconds = 0.0125;
	report_reason("disk name=vda why=\nwipe: disk only: 2 disks match\n\n  \n", r.reason);
	report_write(&r, &text);
	same(text_string(&text), "report 1\ngeneration 3\nboot B\nend step=2 verb=write code=4 seconds=0.013 reason=wipe:%20disk%20only:%202%20disks%20match\n", "a failed step");
	text_free(&text);
}

static void reason(const char *log, const char *wanted) {
	char got[REASON_MAX + 1];
	report_reason(log, got);
	same(got, wanted, "reason \"%s\"", wanted);
}

static void test_reason(void) {
	char log[3 * REASON_MAX], got[REASON_MAX + 1];

	reason("", "");
	reason("\n \n", "");
	reason("one line", "one line");
	reason("a\nb \n", "b");
	reason("10 %\r20 %\rfailed\n", "failed");
	reason("tab\there\n", "tab?here");
	memset(log, 'x', sizeof(log) - 1);
	log[sizeof(log) - 1] = 0;
	report_reason(log, got);
	ok(strlen(got) == REASON_MAX, "cut at its limit");
}

static void record(const char *in, const char *wanted) {
	struct text text = {0};
	kernel_log_line(in, strlen(in), &text);
	same(text_string(&text), wanted, "kernel record");
	text_free(&text);
}

static void test_kernel_log(void) {
	record("6,339,5140900,-;virtio_blk virtio1: ready\n SUBSYSTEM=virtio\n", "[    5.140900] virtio_blk virtio1: ready\n");
	record("6,339,5140900;no end", "[    5.140900] no end\n");
	record("no record", "");
	record(";", "");
	record("x;y", "");
}

static void test_release(void) {
	static const char file[] = "NAME=\"Debian \\\"x\\\"\"\nVERSION_ID='12'\nID=debian\nXID=no\nEMPTY=\nCUT=\"abc";
	char value[16];

	os_release_value(file, "NAME", value, sizeof(value));
	same(value, "Debian \"x\"", "double quotes");
	os_release_value(file, "VERSION_ID", value, sizeof(value));
	same(value, "12", "single quotes");
	os_release_value(file, "ID", value, sizeof(value));
	same(value, "debian", "none");
	os_release_value(file, "EMPTY", value, sizeof(value));
	same(value, "", "empty");
	os_release_value(file, "CUT", value, sizeof(value));
	same(value, "abc", "cut");
	os_release_value(file, "NONE", value, sizeof(value));
	same(value, "", "absent");
}

int main(void) {
	test_body();
	test_reason();
	test_kernel_log();
	test_release();
	return tap_done();
}
