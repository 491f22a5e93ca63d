// SPDX-License-Identifier: Apache-2.0
// Other programs, run as children: with a deadline, and with what they said on standard error at hand when they fail.
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"

struct child {
	pid_t pid; // 0: none, or waited for
	const char *name;
	int errors; // file of its standard error
};

// Looks in PATH, then in the folders of root. `in` and `out` become its standard input and output; -1: nothing,
// /dev/null. The fault of a missing program names the Debian package that has it.
int child_start(const char *const words[], int in, int out, struct child *ret, struct fault *fault);

// Waits until it ends or the deadline has passed; then it is killed. Another end than exit 0 is code 1, with its last
// words.
int child_wait(struct child *child, int64_t deadline, struct fault *fault);

// Kills what still runs; for cleanup_with.
void child_stop(struct child *child);

// Start and wait.
int child_run(const char *const words[], int in, int out, int64_t deadline, struct fault *fault);

// A file that another program opens by a name: "/proc/<us>/fd/<fd>".
#define CHILD_PATH 48u
const char *child_path(int fd, char ret[CHILD_PATH]);
