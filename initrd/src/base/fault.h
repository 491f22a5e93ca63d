// SPDX-License-Identifier: Apache-2.0
// An error: a text for people, and the exit code. Libraries fill one in and return -errno; only verbs print it.
#pragma once

// Exit codes of every verb: contract/exit-codes.md.
// BEGIN words: codes-c
enum exit_code {
	CODE_DONE = 0,
	CODE_FAILED = 1,
	CODE_USAGE = 2,
	CODE_UNSUPPORTED = 3,
	CODE_DISK = 4,
	CODE_INTEGRITY = 5,
	CODE_NETWORK = 6,
};
#define CODE_NAMES "0 done, 1 failed, 2 usage, 3 not supported, 4 disk, 5 integrity, 6 network"
// END words

struct fault {
	enum exit_code code;
	char text[1024];
};

// Fills in the fault; a text that does not fit is cut. Returns the negative errno that goes with the code.
int fault_set(struct fault *fault, enum exit_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

// As fault_set, with ": <text of errno>" at the end. `error` may be given as errno or -errno. Returns -errno.
int fault_errno(struct fault *fault, enum exit_code code, int error, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

// Adds a prefix such as "line 3: " to the text. Returns `error` unchanged.
int fault_prefix(struct fault *fault, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Prints "<who>: <text>" on standard error, for verbs. Returns the exit code.
int fault_print(const struct fault *fault, const char *who);
