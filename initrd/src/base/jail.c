// SPDX-License-Identifier: Apache-2.0
#include "base/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/jail_cell.h"
#include "base/jail_filter.h"

#define DESCRIPTORS 64u // that the program may have open
#define SPARE 100	// number from which on descriptors are parked
#define STREAMS 3u

// Everything that the new process needs.
struct start {
	const struct jail *jail;
	const struct cell *cell;
	const char *program;
	char *const *words;
	const int *streams;
	int report; // pipe for a failure
};

struct failure {
	bool is_confinement; // the kernel refuses to confine
	int error;
};

static int limit(int what, uint64_t value) {
	// of the processor: SIGXCPU, a second later SIGKILL
	const struct rlimit limits = {.rlim_cur = value, .rlim_max = value + (what == RLIMIT_CPU)};
	return setrlimit(what, &limits) < 0 ? -errno : 0;
}

static int limit_all(const struct jail *jail) {
	int r = limit(RLIMIT_AS, jail->memory);

	if (r == 0)
		r = limit(RLIMIT_FSIZE, jail->output);
	if (r == 0)
		r = limit(RLIMIT_CPU, jail->seconds);
	if (r == 0)
		r = limit(RLIMIT_CORE, 0);
	return r == 0 ? limit(RLIMIT_NOFILE, DESCRIPTORS) : r;
}

// Standard streams at 0 to 2, files from JAIL_FIRST on; nothing else stays open, even what was opened without
// O_CLOEXEC.
static int place_files(const struct start *start) {
	unsigned int last = JAIL_FIRST + (unsigned int)start->jail->file_count;
	int parked[STREAMS + JAIL_FILES];
	size_t files = start->jail->file_count;

	for (size_t i = 0; i < STREAMS + files; i++) {
		int fd = i < STREAMS ? start->streams[i] : start->jail->files[i - STREAMS].fd;
		parked[i] = fcntl(fd, F_DUPFD_CLOEXEC, SPARE);
		if (parked[i] < 0)
			return -errno;
	}
	for (size_t i = 0; i < STREAMS + files; i++)
		if (dup2(parked[i], i < STREAMS ? (int)i : JAIL_FIRST + (int)(i - STREAMS)) < 0)
			return -errno;
	(void)syscall(SYS_close_range, STREAMS, JAIL_FIRST - 1, 0);
	(void)syscall(SYS_close_range, last, ~0u, CLOSE_RANGE_CLOEXEC);
	return 0;
}

__attribute__((noreturn)) static void fail(int report, bool is_confinement, int error) {
	const struct failure failure = {is_confinement, error};

	(void)!write(report, &failure, sizeof(failure));
	_exit(127);
}

// Keeps at most the right to read files of other users, which Landlock narrows to the given ones.
static int drop_capabilities(void) {
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	const uint32_t kept = 1u << CAP_DAC_READ_SEARCH;

	for (int i = 0; i <= 63; i++) // those that the kernel does not know, or without the right to: nothing to lose
		if (i != CAP_DAC_READ_SEARCH)
			(void)prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	data[0].permitted &= kept;
	data[0].effective = data[0].permitted;
	data[0].inheritable = 0;
	data[1] = (struct __user_cap_data_struct){0};
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

static int confine(const struct start *start) {
	int r = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;

	if (r == 0)
		r = start->cell->ruleset >= 0 ? cell_enter_ruleset(start->cell) : cell_enter_namespaces(start->cell);
	if (r == 0)
		r = drop_capabilities();
	return r;
}

// In the new process: only system calls. The filter comes last, since it does not allow those of the others.
__attribute__((noreturn)) static void execute(const struct start *start, int report) {
	static char path[] = "PATH=/usr/sbin:/sbin:/usr/bin:/bin", language[] = "LC_ALL=C";
	static char *const environment[] = {path, language, NULL};
	int r;

	signal(SIGPIPE, SIG_DFL);
	if ((r = confine(start)) < 0)
		fail(report, true, r);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); // forgotten with each change of rights
	if ((r = place_files(start)) < 0 || (r = limit_all(start->jail)) < 0)
		fail(report, false, r);
	if ((r = jail_filter()) < 0)
		fail(report, true, r);
	execve(start->program, start->words, environment);
	fail(report, false, -errno);
}

// The first process of a namespace, which ends with it: waits until its parent has ended. It holds nothing open.
__attribute__((noreturn)) static void watch(int lifeline) {
	char byte;

	(void)dup2(lifeline, 0);
	(void)syscall(SYS_close_range, 1, ~0u, 0);
	while (read(0, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

// Ends as the program has ended.
__attribute__((noreturn)) static void end_as(int status) {
	if (WIFSIGNALED(status)) {
		(void)limit(RLIMIT_CORE, 0);
		signal(WTERMSIG(status), SIG_DFL);
		kill(getpid(), WTERMSIG(status));
	}
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 127);
}

// Runs the program beside the first process of its namespace. Both end with this process, however it ends.
__attribute__((noreturn)) static void run_beside(const struct start *start, int report) {
	int lifeline[2], status;
	pid_t first, program;

	if (pipe2(lifeline, O_CLOEXEC) < 0 || (first = _Fork()) < 0)
		fail(report, false, -errno);
	if (first == 0) {
		close(report); // here too, since a kernel before 5.9 has no close_range
		close(lifeline[1]);
		watch(lifeline[0]);
	}
	program = _Fork();
	if (program < 0)
		fail(report, false, -errno);
	if (program == 0)
		execute(start, report);
	close(report);
	(void)dup2(lifeline[1], 0);
	(void)syscall(SYS_close_range, 1, ~0u, 0);
	while (waitpid(program, &status, 0) < 0 && errno == EINTR)
		;
	end_as(status);
}

// In the new process.
__attribute__((noreturn)) static void run(const struct start *start) {
	int report = fcntl(start->report, F_DUPFD_CLOEXEC, SPARE), r;

	close(start->report);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	r = cell_leave(start->cell);
	if (r < 0)
		fail(report, true, r);
	if (r > 0)
		run_beside(start, report);
	execute(start, report);
}

static int explain(const struct failure *failure, const char *program, struct fault *fault) {
	if (!failure->is_confinement)
		return fault_errno(fault, CODE_FAILED, failure->error, "%s", program);
	return fault_errno(
		fault, CODE_UNSUPPORTED, failure->error,
		"%s is not run unconfined, and this kernel has neither Landlock (5.13 or newer, lsm=landlock) nor "
		"namespaces for this user",
		program);
}

static int await_start(int report, const char *program, pid_t pid, struct fault *fault) {
	struct failure failure;
	ssize_t n;
	int status;

	do
		n = read(report, &failure, sizeof(failure));
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return 0; // closed by execve
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return n == sizeof(failure) ? explain(&failure, program, fault)
				    : fault_set(fault, CODE_FAILED, "%s: it could not be started", program);
}

int jail_start(const struct jail *jail, const char *program, const char *const words[], const int streams[3],
	       pid_t *ret, struct fault *fault) {
	cleanup_with(cell_close) struct cell cell = {.ruleset = -1};
	cleanup_close int report = -1, end = -1;
	struct start start = {jail, &cell, program, (char *const *)(uintptr_t)words, streams, -1};
	int ends[2], r = cell_open(jail->files, jail->file_count, program, &cell, fault);

	if (r < 0)
		return r;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", program);
	report = ends[0];
	start.report = end = ends[1];
	*ret = fork();
	if (*ret < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", program);
	if (*ret == 0)
		run(&start);
	close(end);
	end = -1;
	return await_start(report, program, *ret, fault);
}
