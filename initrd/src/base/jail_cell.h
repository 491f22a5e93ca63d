// SPDX-License-Identifier: Apache-2.0
// What a confined program may open, and the two ways to confine it: Landlock and namespaces. jail.c uses them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/jail_file.h"

#define PLACES_MAX 24u

struct place {
	int fd;		  // O_PATH
	char target[256]; // where the program finds it
	bool is_folder, may_execute, may_write;
};

struct cell {
	size_t count;
	struct place places[PLACES_MAX];
	int ruleset; // of Landlock; -1: namespaces
	char user_map[64], group_map[64];
};

// Finds what the program needs, and makes the ruleset if the kernel has Landlock.
int cell_open(const struct jail_file given[], size_t given_count, const char *program, struct cell *ret,
	      struct fault *fault);
void cell_close(struct cell *cell); // for cleanup_with

// Leaves the namespaces of this process: several without Landlock; else that of processes, for its children, if this
// user may. Returns 1 if its children are in a new one, 0 if not, or -errno.
int cell_leave(const struct cell *cell);

// Confines this process. Async-signal-safe. Returns -errno.
int cell_enter_ruleset(const struct cell *cell);
int cell_enter_namespaces(const struct cell *cell);

// Return whether the kernel has it. In the build for tests, SLED_TEST_JAIL names those that are left.
bool cell_has_landlock(void);
bool cell_has_namespaces(void);
