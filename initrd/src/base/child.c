// SPDX-License-Identifier: Apache-2.0
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"

#define LAST_WORDS 400u // bytes of standard error in a fault

static const struct {
	const char *start, *package;
} packages[] = {
	{"partclone.", "partclone"}, {"qemu-img", "qemu-utils"}, {"gzip", "gzip"}, {"xz", "xz-utils"}, {"zstd", "zstd"},
	{"bzip2", "bzip2"},	     {"sfdisk", "fdisk"},
};

static int missing(const char *name, struct fault *fault) {
	for (size_t i = 0; i < ELEMENTS(packages); i++)
		if (!strncmp(name, packages[i].start, strlen(packages[i].start)))
			return fault_set(fault, CODE_UNSUPPORTED, "%s is missing: install the Debian package %s", name,
					 packages[i].package);
	return fault_set(fault, CODE_UNSUPPORTED, "%s is missing", name);
}

static bool find_self(char *ret, size_t size) {
	ssize_t n = readlink("/proc/self/exe", ret, size);

	if (n < 0 || (size_t)n == size)
		return false;
	ret[n] = 0;
	return true;
}

// Searches PATH, then the folders of root's PATH, for an executable file. False: there is none.
static bool find_program(const char *name, char *ret, size_t size) {
	static const char *const usual = "/usr/sbin:/sbin:/usr/bin:/bin";
	const char *const paths[] = {getenv("PATH"), usual};

	if (!strcmp(name, CHILD_SELF))
		return find_self(ret, size);
	for (size_t i = 0; i < ELEMENTS(paths); i++)
		for (const char *at = paths[i]; at && *at; at += strspn(at, ":")) {
			int n = (int)strcspn(at, ":");
			snprintf(ret, size, "%.*s/%s", n, at, name);
			if (access(ret, X_OK) == 0)
				return true;
			at += n;
		}
	return false;
}

static int spawn(const char *program, const char *const words[], const int streams[3], pid_t *ret) {
	char *const *argv = (char *const *)(uintptr_t)words;
	posix_spawn_file_actions_t actions;
	int r;

	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&actions, streams[i], i);
	r = posix_spawn(ret, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

// `jail`: NULL for a program that is trusted with what this process may do.
static int start(const char *const words[], int in, int out, const struct jail *jail, struct child *ret,
		 struct fault *fault) {
	cleanup_close int errors = memfd_create("errors", MFD_CLOEXEC), null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const int streams[] = {in < 0 ? null : in, out < 0 ? null : out, errors};
	char program[256];
	pid_t pid;
	int r;

	if (errors < 0 || null < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", words[0]);
	if (!find_program(words[0], program, sizeof(program)))
		return missing(words[0], fault);
	if (jail)
		r = jail_start(jail, program, words, streams, &pid, fault);
	else if ((r = spawn(program, words, streams, &pid)) < 0)
		r = fault_errno(fault, CODE_FAILED, r, "%s", words[0]);
	if (r == 0)
		*ret = (struct child){.pid = pid, .name = words[0], .errors = steal_fd(&errors)};
	return r;
}

int child_start(const char *const words[], int in, int out, struct child *ret, struct fault *fault) {
	return start(words, in, out, NULL, ret, fault);
}

int child_start_jailed(const char *const words[], int in, int out, const struct jail *jail, struct child *ret,
		       struct fault *fault) {
	return start(words, in, out, jail, ret, fault);
}

static int reap(struct child *child, int *ret_status) {
	pid_t pid;

	do
		pid = waitpid(child->pid, ret_status, 0);
	while (pid < 0 && errno == EINTR);
	child->pid = 0;
	return pid < 0 ? -errno : 0;
}

void child_stop(struct child *child) {
	int status;

	if (child->pid > 0) {
		kill(child->pid, SIGKILL);
		(void)reap(child, &status);
	}
	if (child->name)
		close(child->errors);
	*child = (struct child){0};
}

static bool ends_before(pid_t pid, int64_t deadline) {
	cleanup_close int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	int n;

	if (fd < 0)
		return true; // a kernel before 5.3: no deadline
	do
		n = poll(&poll_fd, 1, clock_poll_timeout(deadline));
	while (n < 0 && errno == EINTR);
	return n != 0;
}

// Lines of progress, which end with a carriage return, and partclone's pointer to a log that it does not write.
static bool is_noise(const char *line, size_t size) {
	static const char *const words[] = {"Elapsed:", "Remaining:", "please check /dev/null"};

	for (size_t i = 0; i < ELEMENTS(words); i++)
		if (memmem(line, size, words[i], strlen(words[i])))
			return true;
	return false;
}

// Control characters become spaces, and a terminal's escape sequences disappear.
static void clean_line(const char *line, size_t size, struct text *ret) {
	for (size_t i = 0; i < size; i++) {
		char c = line[i] > ' ' && line[i] <= '~' ? line[i] : ' ';
		if (line[i] == '\033' && i + 1 < size && line[i + 1] == '[') {
			for (i += 2; i < size && (line[i] < '@' || line[i] > '~');)
				i++;
			continue;
		}
		if (c != ' ' || (ret->size > 0 && ret->data[ret->size - 1] != ' '))
			text_add(ret, &c, 1);
	}
}

// The end of its standard error, on one line.
static void last_words(int fd, char ret[LAST_WORDS]) {
	char data[4 * LAST_WORDS];
	off_t size = lseek(fd, 0, SEEK_END), from = size > (off_t)sizeof(data) ? size - (off_t)sizeof(data) : 0;
	ssize_t n = pread(fd, data, sizeof(data), from);
	cleanup_with(text_free) struct text text = {0};

	for (ssize_t at = 0, end; at < n; at = end + 1) {
		for (end = at; end < n && data[end] != '\n' && data[end] != '\r';)
			end++;
		if (is_noise(data + at, (size_t)(end - at)))
			continue;
		clean_line(data + at, (size_t)(end - at), &text);
		clean_line(" ", 1, &text);
	}
	while (text.size > 0 && text.data[text.size - 1] == ' ')
		text.size--;
	n = text.size < LAST_WORDS ? (ssize_t)text.size : (ssize_t)LAST_WORDS - 1;
	memcpy(ret, text.size ? text.data + text.size - (size_t)n : "", (size_t)n);
	ret[n] = 0;
}

static int how_it_was_killed(const struct child *child, int number, const char *words, struct fault *fault) {
	if (number == SIGXFSZ)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "%s wrote more than it may: the input holds more than it "
				 "announces",
				 child->name);
	if (number == SIGXCPU)
		return fault_set(fault, CODE_UNSUPPORTED, "%s used more processor time than it may", child->name);
	return fault_set(fault, CODE_FAILED, "%s: killed by signal %d: %s", child->name, number, words);
}

static int how_it_ended(const struct child *child, int status, struct fault *fault) {
	char words[LAST_WORDS];

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	last_words(child->errors, words);
	if (WIFSIGNALED(status))
		return how_it_was_killed(child, WTERMSIG(status), words, fault);
	return fault_set(fault, CODE_FAILED, "%s: exit %d: %s", child->name, WEXITSTATUS(status), words);
}

int child_wait(struct child *child, int64_t deadline, struct fault *fault) {
	int status, r;

	if (!ends_before(child->pid, deadline)) {
		r = fault_set(fault, CODE_FAILED, "%s did not end in time and was killed", child->name);
		child_stop(child);
		return r;
	}
	r = reap(child, &status);
	r = r < 0 ? fault_errno(fault, CODE_FAILED, r, "%s", child->name) : how_it_ended(child, status, fault);
	child_stop(child);
	return r;
}

int child_run_jailed(const char *const words[], int in, int out, const struct jail *jail, int64_t deadline,
		     struct fault *fault) {
	cleanup_with(child_stop) struct child child = {0};
	int r = start(words, in, out, jail, &child, fault);

	return r == 0 ? child_wait(&child, deadline, fault) : r;
}

int child_run(const char *const words[], int in, int out, int64_t deadline, struct fault *fault) {
	return child_run_jailed(words, in, out, NULL, deadline, fault);
}

const char *child_path(int fd, char ret[CHILD_PATH]) {
	snprintf(ret, CHILD_PATH, "/proc/%d/fd/%d", (int)getpid(), fd);
	return ret;
}
