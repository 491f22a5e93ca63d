// SPDX-License-Identifier: Apache-2.0
// The command "[" of GRUB, with a third value: unknown.
#include <stdlib.h>
#include <string.h>

#include "boot/grub_run.h"

static enum truth truth(bool value) { return value ? TRUTH_YES : TRUTH_NO; }

static enum truth is_filled(const char *word) {
	return strspn(word, UNKNOWN) < strlen(word) ? TRUTH_YES : *word ? TRUTH_UNKNOWN : TRUTH_NO;
}

// What can be said before all of both is known: their starts differ.
static enum truth equal(const char *a, const char *b) {
	for (; *a == *b && *a && *a != UNKNOWN[0]; a++, b++)
		;
	if (*a == UNKNOWN[0] || *b == UNKNOWN[0])
		return TRUTH_UNKNOWN;
	return truth(*a == *b);
}

static enum truth not(enum truth a) { return a == TRUTH_UNKNOWN ? a : truth(a == TRUTH_NO); }

static enum truth has_file(const struct run *run, const char *path, bool filled) {
	const char *name = run_own_file(path);
	char *content = name ? run->source->read(run->source->context, name) : NULL;
	enum truth ret = name ? truth(content && (!filled || *content)) : TRUTH_UNKNOWN;

	free(content);
	return ret;
}

static enum truth unary(const struct run *run, const char *operator, const char *word) {
	if (!strcmp(operator, "-n"))
		return is_filled(word);
	if (!strcmp(operator, "-z"))
		return not(is_filled(word));
	if (!strcmp(operator, "-s") || !strcmp(operator, "-f") || !strcmp(operator, "-e"))
		return has_file(run, word, operator[1] == 's');
	return !strcmp(operator, "!") ? not(is_filled(word)) : TRUTH_UNKNOWN;
}

// Without -a and -o.
static enum truth primary(const struct run *run, char *const *words, size_t count) {
	if (count > 1 && !strcmp(words[0], "!"))
		return not(primary(run, words + 1, count - 1));
	if (count == 1)
		return is_filled(words[0]);
	if (count == 2)
		return unary(run, words[0], words[1]);
	if (count == 3 && (!strcmp(words[1], "=") || !strcmp(words[1], "==")))
		return equal(words[0], words[2]);
	if (count == 3 && !strcmp(words[1], "!="))
		return not(equal(words[0], words[2]));
	return count == 0 ? TRUTH_NO : TRUTH_UNKNOWN;
}

static enum truth both(enum truth a, enum truth b) {
	if (a == TRUTH_NO || b == TRUTH_NO)
		return TRUTH_NO;
	return a == TRUTH_YES && b == TRUTH_YES ? TRUTH_YES : TRUTH_UNKNOWN;
}

enum truth run_test(const struct run *run, char *const *words, size_t count) {
	enum truth any = TRUTH_NO, all = TRUTH_YES;

	for (size_t start = 0, i = 0; i <= count; i++) {
		bool or = i == count || !strcmp(words[i], "-o");
		if (!or && strcmp(words[i], "-a"))
			continue;
		all = both(all, primary(run, words + start, i - start));
		start = i + 1;
		if (or) {
			any = not(both(not(any), not(all)));
			all = TRUTH_YES;
		}
	}
	return any;
}
