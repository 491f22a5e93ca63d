// SPDX-License-Identifier: Apache-2.0
// Other programs, run as children with a deadline. If one fails, the fault contains the end of its standard error.
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "base/jail.h"

struct child {
	pid_t pid; // 0: none, or waited for
	const char *name;
	int errors; // file of its standard error
};

#define CHILD_SELF "sledc" // this program, wherever it is

// Searches PATH, then the folders of root's PATH. `in` and `out` become its standard input and output; -1: /dev/null.
// If the program is missing, the fault names its Debian package.
int child_start(const char *const words[], int in, int out, struct child *ret, struct fault *fault);

// The same for a program that parses bytes of strangers (base/jail.h).
int child_start_jailed(const char *const words[], int in, int out, const struct jail *jail, struct child *ret,
		       struct fault *fault);

// Waits until it ends; kills it at the deadline. Anything but exit 0 is code 1, with the end of its standard error.
int child_wait(struct child *child, int64_t deadline, struct fault *fault);

// Kills the child if it still runs; for cleanup_with.
void child_stop(struct child *child);

// Start and wait.
int child_run(const char *const words[], int in, int out, int64_t deadline, struct fault *fault);
int child_run_jailed(const char *const words[], int in, int out, const struct jail *jail, int64_t deadline,
		     struct fault *fault);

// A file that another program opens by a name: "/proc/<us>/fd/<fd>".
#define CHILD_PATH 48u
const char *child_path(int fd, char ret[CHILD_PATH]);
