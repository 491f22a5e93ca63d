// SPDX-License-Identifier: Apache-2.0
// Two processes: this one reads standard input, whatever the network does; its child sends the reports to sledd. The
// pipe between them may be full: progress lines are then dropped.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "net/api.h"
#include "node/facts.h"
#include "node/kernel_log.h"
#include "node/report.h"
#include "verbs/verbs.h"

#define SEND_NS (10 * SECOND)
#define END_NS (600 * SECOND) // how long an end is retried: contract/report.md
#define BEAT_NS (5 * SECOND)  // a running step sends a word at least every 10 s: contract/admission.md
#define PAUSE_MAX (10 * SECOND)
#define NEVER INT64_MAX
#define LOG_MAX (64u * 1024) // of a posted log: contract/report.md
#define LOG_OUTPUT (40u * 1024)
#define LOG_MARK "--- dmesg\n"

const struct operand_rule report_rules[] = {
	API_RULES,
	{"generation", true, "generation of the plan", NULL, check_number},
	{"run", true, "run of the plan", NULL, check_positive},
	{"step", true, "number of the step, from 1", NULL, check_positive},
	{"of", true, "number of steps", NULL, check_positive},
	{"verb", true, "verb of the step", NULL, NULL},
	{"log", true, "file with the step's output; sent if the step fails", NULL, NULL},
	{"boot", false, "id of this boot (default: from the kernel)", NULL, NULL},
	{"begin", false,
	 "only: report the start, print accepted, refused or unanswered, and end; done: the start is reported",
	 "only|done", NULL},
	{"next", false, "verb of the next step: a successful end reports its start too; prints accepted once it is",
	 NULL, NULL},
	{0},
};

struct sender {
	struct api api;
	struct report report;
	struct backoff backoff;
	int64_t started, next; // nothing is sent before `next`
	int64_t beat;	       // when the progress is sent again, even if it has not changed
	int64_t give_up;       // once the step has ended
	int64_t hold_limit;    // until then a withheld end is sent again
	bool held;	       // the end is withheld
	bool refused;	       // a start or an end, by sledd
	char line[LINE_MAX_BYTES];
	size_t size; // of an unfinished line
};

// 0: the server answered. The answer is final: the same body would get the same one, unless it is withheld.
static int send_body(struct sender *s, const struct report *report, unsigned *ret_status, struct fault *fault) {
	cleanup_with(text_free) struct text text = {0};
	cleanup_free char *answer = NULL;
	int r;

	report_write(report, &text);
	struct call call = {
		.method = "POST",
		.path = "report",
		.body = text.data,
		.body_size = text.size,
		.answer_max = 4096,
		.answer_ns = SEND_NS,
	};
	r = api_call(&s->api, &call, ret_status, &answer, NULL, fault);
	if (r == 0 && *ret_status >= 300) {
		api_refused(*ret_status, answer, fault);
		fault_print(fault, "report");
	}
	return r;
}

// What the last response requests before the next report, but an end is sent at once.
static int64_t pause_at_least(const struct sender *s, int64_t pause) {
	int64_t wanted = s->api.retry_ns < PAUSE_MAX ? s->api.retry_ns : PAUSE_MAX;

	return wanted > pause ? wanted : pause;
}

// A word of a step that has nothing new to report, or whose end is withheld: this machine is still the node.
static void send_beat(struct sender *s) {
	struct report beat = s->report;
	struct fault fault;
	unsigned status;

	beat.begin_due = beat.end_due = false;
	beat.progress_due = true;
	int r = send_body(s, &beat, &status, &fault);
	s->beat = clock_now() + pause_at_least(s, BEAT_NS);
	if (r == 0 && status >= 300)
		s->beat = NEVER; // the next one would be refused, too
}

// Whether the end has to be sent again, because sledd does not accept it yet. Servers that no longer respond are given
// up as usual.
static bool hold_end(struct sender *s, unsigned status) {
	int64_t now = clock_now();

	s->held = status == WITHHELD && s->report.end_due && now < s->hold_limit;
	if (s->held) {
		s->next = now + s->api.withheld_ns;
		s->give_up = now + END_NS;
	}
	return s->held;
}

static void try_send(struct sender *s) {
	struct fault fault;
	unsigned status = 0;
	int r = send_body(s, &s->report, &status, &fault);
	int64_t now = clock_now();

	s->report.progress_due = false;
	if (r == 0 && hold_end(s, status))
		return; // the beat continues: a withheld report need not count as a word
	s->beat = now + pause_at_least(s, BEAT_NS);
	if (r == 0) {
		s->refused |= status >= 300 && (s->report.begin_due || s->report.end_due);
		if (status < 300 && report_begins_next(&s->report))
			puts("accepted");
		s->report.begin_due = s->report.end_due = false;
		s->backoff.next = 0;
		s->next = now + pause_at_least(s, SECOND);
		return;
	}
	s->next = now + pause_at_least(s, backoff_next(&s->backoff));
	if (s->report.end_due && s->next >= s->give_up) {
		fault_print(&fault, "report");
		s->report.end_due = s->report.begin_due = false;
	}
}

static int64_t next_beat(const struct sender *s) { return s->report.ended && !s->held ? NEVER : s->beat; }

static int64_t next_send(const struct sender *s) {
	return s->report.begin_due || s->report.progress_due || s->report.end_due ? s->next : NEVER;
}

// Sends what is due. Returns when something is due next, unless a line comes first.
static int64_t send_now(struct sender *s) {
	for (;;) {
		int64_t now = clock_now(), beat = next_beat(s), next = next_send(s);
		if (next <= now)
			try_send(s);
		else if (beat <= now)
			send_beat(s);
		else
			return beat < next ? beat : next;
	}
}

static void take_reason(struct sender *s, const char *path) {
	cleanup_free char *log = NULL;
	if (s->report.code != 0 && file_read_tail(path, 8192, &log, NULL) == 0)
		report_reason(log, s->report.reason);
}

static void on_line(struct sender *s, const char *line, size_t size, const char *log) {
	if (!report_take(&s->report, line, size) || !s->report.ended)
		return;
	s->report.seconds = (double)(clock_now() - s->started) / SECOND;
	s->give_up = clock_now() + END_NS;
	s->hold_limit = clock_now() + WITHHELD_NS;
	s->next = 0; // at once
	s->backoff.next = 0;
	take_reason(s, log);
}

// Reads the lines that the parent passed on. False at the end of the pipe.
static bool take_lines(struct sender *s, int fd, const char *log) {
	ssize_t n = read(fd, s->line + s->size, sizeof(s->line) - s->size);
	char *newline;

	if (n <= 0)
		return n < 0 && errno == EINTR;
	s->size += (size_t)n;
	while ((newline = memchr(s->line, '\n', s->size))) {
		size_t used = (size_t)(newline - s->line) + 1;
		on_line(s, s->line, used - 1, log);
		memmove(s->line, s->line + used, s->size -= used);
	}
	if (s->size == sizeof(s->line)) // no line is that long
		s->size = 0;
	return true;
}

static void post_log(struct sender *s, const char *path) {
	cleanup_with(text_free) struct text text = {0};
	cleanup_free char *log = NULL, *answer = NULL;
	struct fault fault;
	char url[64];
	unsigned status;
	size_t size = 0;

	if (file_read_tail(path, LOG_OUTPUT, &log, &size) == 0)
		text_add(&text, size > LOG_OUTPUT ? log + size - LOG_OUTPUT : log,
			 size > LOG_OUTPUT ? LOG_OUTPUT : size);
	if (text.size && text.data[text.size - 1] != '\n')
		text_adds(&text, "\n");
	text_adds(&text, LOG_MARK);
	kernel_log_tail("/dev/kmsg", LOG_MAX - text.size, &text);
	snprintf(url, sizeof(url), "log?step=%s", s->report.step);
	struct call call = {
		.method = "POST",
		.path = url,
		.body = text.data,
		.body_size = text.size,
		.answer_max = 4096,
		.answer_ns = SEND_NS,
		.give_up = clock_now() + 30 * SECOND,
	};
	if (api_call(&s->api, &call, &status, &answer, NULL, &fault) < 0)
		fault_print(&fault, "report: log");
}

// The child: runs until the end of the step is answered. Without an end: until the pipe is closed and everything due is
// sent or refused.
static void send_all(struct sender *s, int fd, const char *log) {
	bool open = true;

	for (;;) {
		struct pollfd wait = {.fd = open ? fd : -1, .events = POLLIN};
		int64_t next = send_now(s);
		if (!open && !s->report.end_due)
			break;
		if (poll(&wait, 1, next == NEVER ? -1 : clock_poll_timeout(next)) > 0)
			open = take_lines(s, fd, log);
	}
	if (s->report.ended && s->report.code != 0)
		post_log(s, log);
}

// One pass over the servers. After "refused" the shell must not start the step: sledd has withdrawn the plan.
static enum exit_code begin_only(struct sender *s) {
	struct fault fault;
	unsigned status = 0;
	int r = send_body(s, &s->report, &status, &fault);

	puts(r < 0 ? "unanswered" : status >= 300 ? "refused" : "accepted");
	if (r < 0)
		return fault_print(&fault, "report");
	return status >= 300 ? CODE_NETWORK : CODE_DONE;
}

// The parent: passes lines on; returns the code of the end line.
static enum exit_code drain(int fd) {
	cleanup_free char *line = NULL;
	struct report seen = {0};
	size_t room = 0;
	ssize_t n;

	while (!seen.ended && (n = getline(&line, &room, stdin)) > 0) {
		bool taken = line[n - 1] == '\n' && n <= PIPE_BUF && report_take(&seen, line, (size_t)n - 1);
		if (taken)
			// a line that is sent only once may wait
			fcntl(fd, F_SETFL, report_may_lose(line) ? O_NONBLOCK : 0);
		if (taken && write(fd, line, (size_t)n) < 0 && errno != EAGAIN)
			break; // the child is gone
	}
	return seen.ended ? (enum exit_code)seen.code : CODE_FAILED;
}

static int start(struct sender *s, const struct operands *operands, struct fault *fault) {
	static char boot[64];

	facts_boot_id("", boot, sizeof(boot));
	s->started = clock_now();
	s->beat = s->started + BEAT_NS;
	s->backoff.max = 10 * SECOND;
	s->report = (struct report){
		.generation = operands_get(operands, "generation"),
		.run = operands_get(operands, "run"),
		.boot = operands_get_or(operands, "boot", boot),
		.step = operands_get(operands, "step"),
		.of = operands_get(operands, "of"),
		.verb = operands_get(operands, "verb"),
		.next = operands_get(operands, "next"),
		.begin_due = strcmp(operands_get_or(operands, "begin", ""), "done") != 0,
	};
	return api_open(operands, &s->api, fault);
}

enum exit_code verb_report(const struct operands *operands) {
	cleanup_close int from = -1, to = -1;
	static struct sender sender;
	struct fault fault;
	enum exit_code code;
	int fds[2], status = 0;
	pid_t child;

	if (start(&sender, operands, &fault) < 0)
		return fault_print(&fault, "report");
	if (!strcmp(operands_get_or(operands, "begin", ""), "only"))
		return begin_only(&sender);
	if (pipe2(fds, O_CLOEXEC) < 0 || (child = fork()) < 0) {
		perror("report");
		return CODE_FAILED;
	}
	from = fds[0];
	to = fds[1];
	if (child == 0) {
		close(steal_fd(&to));
		send_all(&sender, from, operands_get(operands, "log"));
		fflush(stdout);
		_exit(sender.refused ? CODE_NETWORK : CODE_DONE);
	}
	close(steal_fd(&from));
	code = drain(to);
	close(steal_fd(&to));
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	api_close(&sender.api);
	// If sledd refused the report of a step that succeeded, the plan must not continue.
	return code == CODE_DONE && WIFEXITED(status) ? (enum exit_code)WEXITSTATUS(status) : code;
}
