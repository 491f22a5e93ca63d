// SPDX-License-Identifier: Apache-2.0
// A running script of GRUB (boot/grub.h).
#pragma once

#include "boot/grub_source.h"
#include "boot/grub_words.h"

#define FUNCTIONS_MAX 32u
#define DEPTH_MAX 24u
#define STEPS_MAX 200000u
#define OWN_FOLDER "(own)" // value of "prefix" and "config_directory": the folder of grub.cfg

enum mode {
	MODE_RUN,
	MODE_UNSURE, // in a branch that GRUB may or may not run
	MODE_SKIP,
};

enum truth { TRUTH_NO, TRUTH_YES, TRUTH_UNKNOWN };

struct function {
	char *name, *body;
};

struct run {
	struct variables *variables;
	struct entries *entries;
	const struct grub_source *source;
	struct text *reason;
	int entry, menu; // index of the entry that runs, and of the submenu that is open; -1: none
	unsigned depth, steps;
	size_t function_count;
	struct function functions[FUNCTIONS_MAX];
	char doubt[128]; // the last condition that cannot be known
	bool hands_over, has_bls;
	int (*script)(struct run *run, const char *script, enum mode mode); // of run_script
};

// Runs a script, in the present context.
int run_script(struct run *run, const char *script, enum mode mode);

// Runs one statement that is no structure.
int run_command(struct run *run, const struct grub_words *words, enum mode mode);

// Commands of an entry.
int run_linux(struct run *run, const struct grub_words *words, enum mode mode);
int run_initrd(struct run *run, const struct grub_words *words, enum mode mode);

// Whether "[ ... ]", of which `words` are the words between, is true.
enum truth run_test(const struct run *run, char *const *words, size_t count);

// Adds the entries of a "menuentry" or "submenu" whose body was cut out.
int run_add_entry(struct run *run, const struct grub_words *words, const char *body, size_t size, enum mode mode);

// Runs the default entry of a menu, and of the submenus that it leads to. `wanted` is the value of "default".
int run_menu(struct run *run, int menu, const char *wanted);

// Sets the reason; returns -ENOTSUP.
int run_refuse(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

bool is_unknown(const char *word);

// The name of a file in the folder of grub.cfg; NULL: it is elsewhere.
const char *run_own_file(const char *path);
