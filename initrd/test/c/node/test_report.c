// SPDX-License-Identifier: Apache-2.0
#include "node/kernel_log.h"
#include "node/os.h"
#include "node/report.h"
#include "tap.h"

static bool take(struct report *r, const char *line) { return report_take(r, line, strlen(line)); }

static void test_body(void) {
	struct report r = {
		.generation = "3", .run = "7", .boot = "B", .step = "2", .of = "4", .verb = "write", .begin_due = true};
	struct text text = {0};

	ok(take(&r, "progress bytes=100 total=200 rate=50") && r.progress_due, "progress");
	ok(!take(&r, "progress total=1") && !take(&r, "hello") && !take(&r, "progress  bytes=1") && !take(&r, ""),
	   "other lines");
	report_write(&r, &text);
	same(text_string(&text),
	     "report 1\ngeneration 3 run 7\nboot B\nbegin step=2 of=4 verb=write\nprogress step=2 verb=write bytes=100 "
	     "total=200 rate=50\n",
	     "several lines in one body");
	text_free(&text);
	ok(take(&r, "end code=4") && r.ended && r.code == 4, "end");
	ok(!take(&r, "progress bytes=1"), "nothing comes after the end");
	r.begin_due = r.progress_due = false;
	r.seconds = 0.0125;
	report_reason("disk name=vda why=\nwipe: disk only: 2 disks match\n\n  \n", r.reason);
	report_write(&r, &text);
	same(text_string(&text),
	     "report 1\ngeneration 3 run 7\nboot B\nend step=2 verb=write code=4 seconds=0.013 "
	     "reason=wipe:%20disk%20only:%202%20disks%20match\n",
	     "a failed step");
	text_free(&text);
}

#define DIGEST "sha256:8f3c0d7e5b1a2c4f6e8d9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d"
#define UPLOAD "0c2f5c1e7a544c1f9a551f3a0b8f6f5e"

static void body(const struct report *r, const char *wanted, const char *what) {
	struct text text = {0};
	report_write(r, &text);
	same(text_string(&text), wanted, "%s", what);
	text_free(&text);
}

static void test_detail(void) {
	struct report r = {.generation = "3", .run = "7", .boot = "B", .step = "2", .of = "4", .verb = "write"};

	ok(!take(&r, "detail ") && !take(&r, "detail") && !*r.detail, "a detail without a text");
	ok(take(&r, "detail auto: not decided yet") && take(&r, "detail delta:  5.0 % differ\r\tand=so"), "details");
	ok(!r.begin_due && !r.progress_due && !r.end_due, "which nobody waits for");
	ok(take(&r, "end code=0") && !take(&r, "detail late"), "nothing after the end");
	body(&r,
	     "report 1\ngeneration 3 run 7\nboot B\nend step=2 verb=write code=0 seconds=0.000 "
	     "detail=delta:%20%205.0%20%25%20differ%3F%3Fand%3Dso\n",
	     "the newest detail, in one line");
	ok(report_may_lose("progress bytes=1") && !report_may_lose("detail x") && !report_may_lose("image digest=x") &&
		   !report_may_lose("end code=0"),
	   "what may be lost");
}

static void test_erasures(void) {
	struct report r = {.generation = "3", .run = "7", .boot = "B", .step = "1", .of = "2", .verb = "wipe"};

	ok(take(&r, "erasure result=good disk=sda") && take(&r, "erasure result=left disk=sdb"), "two records");
	body(&r, "report 1\ngeneration 3 run 7\nboot B\n", "are sent with the end");
	ok(take(&r, "end code=0"), "the end");
	body(&r,
	     "report 1\ngeneration 3 run 7\nboot B\nerasure result=good disk=sda\nerasure result=left disk=sdb\n"
	     "end step=1 verb=wipe code=0 seconds=0.000\n",
	     "in front of it");
	text_free(&r.erasures);
	r = (struct report){.verb = "wipe"};
	for (unsigned i = 0; i < ERASURES_MAX; i++)
		(void)take(&r, "erasure result=good disk=sda");
	ok(!take(&r, "erasure result=good disk=sda"), "a report has at most %u", ERASURES_MAX);
	text_free(&r.erasures);
}

static void test_way(void) {
	struct report r = {.generation = "3", .run = "7", .boot = "B", .step = "4", .of = "4", .verb = "kexec"};

	ok(!take(&r, "way walk") && !take(&r, "way kexec ") && !take(&r, "way") && !r.way, "other ways");
	ok(take(&r, "way reboot") && take(&r, "end code=0"), "the way of a kexec");
	body(&r, "report 1\ngeneration 3 run 7\nboot B\nend step=4 verb=kexec code=0 seconds=0.000 way=reboot\n",
	     "a kexec that is a reboot");
	r.verb = "write";
	body(&r, "report 1\ngeneration 3 run 7\nboot B\nend step=4 verb=write code=0 seconds=0.000\n",
	     "another step has no way");
}

#define KEY "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"

static void test_host_key(void) {
	struct report r = {.generation = "3", .run = "7", .boot = "B", .step = "3", .of = "4", .verb = "configure"};

	ok(!take(&r, "hostkey ") && !take(&r, "hostkey ssh-rsa " KEY) && !take(&r, "hostkey ssh-ed25519 " KEY " me") &&
		   !take(&r, "hostkey ssh-ed25519 AAAA") && !*r.host_key,
	   "what is no host key");
	ok(take(&r, "hostkey ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBFsW6GZh"
		    "wdZ8wBAkjvViTi/qIdbZdnt7V9cJse6yO8XGelKektUWKrWqGblLz0ImcbF5ViW8bWKTOaM04rJEP6k=") &&
		   take(&r, "hostkey ssh-ed25519 " KEY) && take(&r, "end code=0"),
	   "a host key");
	body(&r,
	     "report 1\ngeneration 3 run 7\nboot B\nend step=3 verb=configure code=0 seconds=0.000 "
	     "host_key=ssh-ed25519%20" KEY "\n",
	     "the host key of a configure");
	r.code = 1;
	body(&r, "report 1\ngeneration 3 run 7\nboot B\nend step=3 verb=configure code=1 seconds=0.000 reason=\n",
	     "one that failed has none");
	r.code = 0;
	r.verb = "write";
	body(&r, "report 1\ngeneration 3 run 7\nboot B\nend step=3 verb=write code=0 seconds=0.000\n",
	     "another step has none");
}

static void test_jumped(void) {
	ok(os_was_jumped_to("sled.start=kexec") && os_was_jumped_to("ro sled.start=kexec\n") &&
		   os_was_jumped_to("xsled.start=kexec sled.start=kexec x\n"),
	   "jumped to");
	ok(!os_was_jumped_to("") && !os_was_jumped_to("ro quiet\n") && !os_was_jumped_to("xsled.start=kexec") &&
		   !os_was_jumped_to("sled.start=kexecs"),
	   "started by the firmware");
}

static void test_longest_end(void) {
	struct report r = {.generation = "3",
			   .run = "7",
			   .boot = "B",
			   .step = "64",
			   .of = "64",
			   .verb = "configure",
			   .seconds = 123456.789};
	char line[LINE_MAX_BYTES];
	struct text text = {0};

	memset(line, '=', sizeof(line));
	memcpy(line, "detail ", strlen("detail "));
	ok(report_take(&r, line, sizeof(line)) && strlen(r.detail) == DETAIL_MAX, "a detail is cut at its limit");
	ok(take(&r, "end code=255"), "end");
	memset(r.reason, '=', REASON_MAX);
	report_write(&r, &text);
	ok(text.size - strlen("report 1\ngeneration 3 run 7\nboot B\n") <= LINE_MAX_BYTES,
	   "the longest end fits a line");
	text_free(&text);
}

static void test_received(void) {
	struct report r = {.generation = "3", .run = "7", .boot = "B", .step = "2", .of = "4", .verb = "write"};

	ok(!take(&r, "received http=1 multicast=2 packets=3 lost=4 rejected=5") &&
		   !take(&r, "received http=1 multicast=2 packets=3 lost=4 rejected=5 last=4294967296") &&
		   !take(&r, "received http=-1 multicast=2 packets=3 lost=4 rejected=5 last=6") && !r.received.is_known,
	   "all that a write received, or nothing");
	ok(take(&r, "received http=1 multicast=2 packets=3 lost=4 rejected=5 last=4294967295") &&
		   take(&r, "end code=0"),
	   "what a write received");
	body(&r,
	     "report 1\ngeneration 3 run 7\nboot B\nend step=2 verb=write code=0 seconds=0.000 http=1 multicast=2 "
	     "packets=3 lost=4 rejected=5 last=4294967295\n",
	     "a write");
	r.code = 5;
	r.verb = "write";
	body(&r, "report 1\ngeneration 3 run 7\nboot B\nend step=2 verb=write code=5 seconds=0.000 reason=\n",
	     "a write that failed");
	r.code = 0;
	r.verb = "verify";
	body(&r, "report 1\ngeneration 3 run 7\nboot B\nend step=2 verb=verify code=0 seconds=0.000\n", "another step");
}

static void test_image(void) {
	struct report r = {.generation = "3", .run = "7", .boot = "B", .step = "1", .of = "2", .verb = "capture"};

	ok(!take(&r, "image bytes=1 upload=" UPLOAD) &&
		   !take(&r, "image digest=sha256:8f3c bytes=1 file_bytes=1 upload=" UPLOAD) && !*r.digest,
	   "an image without a right digest");
	ok(!take(&r, "image digest=" DIGEST " bytes=1 file_bytes=1") &&
		   !take(&r, "image digest=" DIGEST " bytes=1 file_bytes=1 upload=" UPLOAD "0") && !*r.digest,
	   "an image without a right id of its upload");
	ok(take(&r, "image digest=" DIGEST " bytes=4294967296 file_bytes=612345678 upload=" UPLOAD) &&
		   take(&r, "end code=0"),
	   "what a capture made");
	r.begin_due = true;
	body(&r,
	     "report 1\ngeneration 3 run 7\nboot B\nbegin step=1 of=2 verb=capture\nend step=1 verb=capture code=0 "
	     "seconds=0.000 digest=" DIGEST " bytes=4294967296 file_bytes=612345678 upload=" UPLOAD "\n",
	     "a capture");
	r.begin_due = false;
	r.code = 6;
	body(&r, "report 1\ngeneration 3 run 7\nboot B\nend step=1 verb=capture code=6 seconds=0.000 reason=\n",
	     "one that failed made nothing");
	r.code = 0;
	r.verb = "write";
	body(&r, "report 1\ngeneration 3 run 7\nboot B\nend step=1 verb=write code=0 seconds=0.000\n",
	     "another step makes no image");
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
	record("6,339,5140900,-;virtio_blk virtio1: ready\n SUBSYSTEM=virtio\n",
	       "[    5.140900] virtio_blk virtio1: ready\n");
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
	test_detail();
	test_erasures();
	test_way();
	test_host_key();
	test_jumped();
	test_longest_end();
	test_received();
	test_image();
	test_reason();
	test_kernel_log();
	test_release();
	return tap_done();
}
