// SPDX-License-Identifier: Apache-2.0
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define LAST_WORDS 400u // bytes of standard error in a fault

static const struct {
	const char *start, *package;
} packages[] = {
	{"partclone.", "partclone"}, {"qemu-img", "qemu-utils"}, {"gzip", "gzip"}, {"xz", "xz-utils"}, {"zstd", "zstd"},
		{"bzip2", "bzip2"},
	{"sfdisk", "fdisk"},
};

static int missing(const char *name, struct fault *fault) {
	for (size_t i = 0; i < ELEMENTS(packages); i++)
		if (!strncmp(name, packages[i].start, strlen(packages[i].start)))
			return fault_set(fault, CODE_UNSUPPORTED, "%s is missing: install the Debian package %s",
				name, packages[i].package);
	return fault_set(fault, CODE_UNSUPPORTED, "%s is missing", name);
}

static int spawn(const char *const words[], const posix_spawn_file_actions_t *actions, pid_t *ret) {
	static const char *const folders[] = {"/usr/sbin", "/sbin", "/usr/bin", "/bin"};
	char *const *argv = (char *const *)(uintptr_t)words, path[256];
	int r = posix_spawnp(ret, words[0], actions, NULL, argv, environ);

	for (size_t i = 0; r == ENOENT && i < ELEMENTS(folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", folders[i], words[0]);
		r = posix_spawn(ret, path, actions, NULL, argv, environ);
	}
	return -r;
}

static void use(posix_spawn_file_actions_t *actions, int fd, int as) {
	if (fd >= 0)
		posix_spawn_file_actions_adddup2(actions, fd, as);
	else
		posix_spawn_file_actions_addopen(actions, as, "/dev/null", O_RDWR, 0);
}

int child_start(const char *const words[], int in, int out, struct child *ret, struct fault *fault) {
	cleanup_close int errors = memfd_create("errors", MFD_CLOEXEC);
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int r;

	if (errors < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", words[0]);
	posix_spawn_file_actions_init(&actions);
	use(&actions, in, STDIN_FILENO);
	use(&actions, out, STDOUT_FILENO);
	use(&actions, errors, STDERR_FILENO);
	r = spawn(words, &actions, &pid);
	posix_spawn_file_actions_destroy(&actions);
	if (r == -ENOENT)
		return missing(words[0], fault);
	if (r < 0)
		return fault_errno(fault, CODE_FAILED, r, "%s", words[0]);
	*ret = (struct child){.pid = pid, .name = words[0], .errors = steal_fd(&errors)};
	return 0;
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

// The end of its standard error, on one line.
static void last_words(int fd, char ret[LAST_WORDS]) {
	off_t size = lseek(fd, 0, SEEK_END), from = size > (off_t)LAST_WORDS ? size - (off_t)LAST_WORDS + 1 : 0;
	ssize_t n = pread(fd, ret, LAST_WORDS - 1, from);

	n = n < 0 ? 0 : n;
	while (n > 0 && (unsigned char)ret[n - 1] <= ' ')
		n--;
	ret[n] = 0;
	for (char *p = ret; *p; p++)
		if ((unsigned char)*p < ' ' || (unsigned char)*p > '~')
			*p = ' ';
}

static int how_it_ended(const struct child *child, int status, struct fault *fault) {
	char words[LAST_WORDS];

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	last_words(child->errors, words);
	if (WIFSIGNALED(status))
		return fault_set(fault, CODE_FAILED, "%s: killed by signal %d: %s", child->name, WTERMSIG(status),
			words);
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

int child_run(const char *const words[], int in, int out, int64_t deadline, struct fault *fault) {
	cleanup_with(child_stop) struct child child = {0};
	int r = child_start(words, in, out, &child, fault);

	return r == 0 ? child_wait(&child, deadline, fault) : r;
}

const char *child_path(int fd, char ret[CHILD_PATH]) {
	snprintf(ret, CHILD_PATH, "/proc/%d/fd/%d", (int)getpid(), fd);
	return ret;
}
