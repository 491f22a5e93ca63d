// SPDX-License-Identifier: Apache-2.0
#include "boot/grub.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "boot/grub_run.h"

// The position behind a reserved word at the start of a statement; NULL: it is another one.
static const char *keyword(const char *at, const char *word) {
	size_t n = strlen(word);
	return !strncmp(at, word, n) && (!at[n] || strchr(" \t\r\n;", at[n])) ? at + n : NULL;
}

static int read_words(struct run *run, const char **at, struct grub_words *words, enum grub_end *ret_end) {
	int r;

	if (++run->steps > STEPS_MAX)
		return run_refuse(run, "it is too long");
	r = grub_words_read(at, run->variables, words, ret_end);
	return r == -E2BIG ? run_refuse(run, "a statement has more than %u words", WORDS_MAX) : r;
}

// From behind a "{" to behind its "}".
static int skip_group(struct run *run, const char **at) {
	for (unsigned open = 1; open > 0;) {
		cleanup_with(grub_words_free) struct grub_words words = {0};
		enum grub_end end;
		int r = read_words(run, at, &words, &end);
		if (r < 0)
			return r;
		if (end == GRUB_EOF)
			return run_refuse(run, "a \"{\" has no \"}\"");
		open += end == GRUB_OPEN;
		open -= end == GRUB_CLOSE;
	}
	return 0;
}

static int add_function(struct run *run, const char *name, const char *body, size_t size) {
	struct function *function = &run->functions[run->function_count];

	if (run->function_count == FUNCTIONS_MAX)
		return run_refuse(run, "it has more than %u functions", FUNCTIONS_MAX);
	*function = (struct function){strdup(name), strndup(body, size)};
	run->function_count++;
	return function->name && function->body ? 0 : -ENOMEM;
}

static int run_group(struct run *run, const struct grub_words *words, const char **at, enum mode mode) {
	const char *body = *at, *head = words->count ? words->items[0] : "";
	int r = skip_group(run, at);
	size_t size = (size_t)(*at - body) - 1;

	if (r < 0 || mode == MODE_SKIP)
		return r;
	if (!strcmp(head, "menuentry") || !strcmp(head, "submenu"))
		return run_add_entry(run, words, body, size, mode);
	if (!strcmp(head, "function") && words->count == 2 && mode == MODE_RUN)
		return add_function(run, words->items[1], body, size);
	return run_refuse(run, "\"%s {\" is a form that is not known here", head);
}

static int run_statement(struct run *run, const char **at, enum mode mode, bool *ret_end) {
	cleanup_with(grub_words_free) struct grub_words words = {0};
	enum grub_end end;
	int r = read_words(run, at, &words, &end);

	*ret_end = end == GRUB_EOF;
	if (r < 0)
		return r;
	if (end == GRUB_OPEN)
		return run_group(run, &words, at, mode);
	if (end == GRUB_CLOSE)
		return run_refuse(run, "a \"}\" has no \"{\"");
	return words.count == 0 || mode == MODE_SKIP ? 0 : run_command(run, &words, mode);
}

static void remember_doubt(struct run *run, const struct grub_words *words) {
	size_t n = 0;

	for (size_t i = 0; i < words->count && n < sizeof(run->doubt); i++)
		n += (size_t)snprintf(run->doubt + n, sizeof(run->doubt) - n, "%s%s", i ? " " : "", words->items[i]);
}

static int judge(struct run *run, const struct grub_words *words, enum mode mode, enum truth *ret) {
	size_t not = words->count && !strcmp(words->items[0], "!"), count = words->count - not;
	char *const *items = words->items + not;
	int r = 0;

	*ret = TRUTH_UNKNOWN;
	if (count && !strcmp(items[0], "[") && !strcmp(items[count - 1], "]"))
		*ret = run_test(run, items + 1, count - 2);
	else if (count && !strcmp(items[0], "test"))
		*ret = run_test(run, items + 1, count - 1);
	else if (count == 1 && (!strcmp(items[0], "true") || !strcmp(items[0], "false")))
		*ret = items[0][0] == 't' ? TRUTH_YES : TRUTH_NO;
	else if (count && !not)
		r = run_command(run, words, mode);
	else
		r = run_refuse(run, "an \"if\" without a condition");
	if (not && *ret != TRUTH_UNKNOWN)
		*ret = *ret == TRUTH_YES ? TRUTH_NO : TRUTH_YES;
	if (*ret == TRUTH_UNKNOWN)
		remember_doubt(run, words);
	return r;
}

// What stands between "if" or "elif" and "then".
static int run_condition(struct run *run, const char **at, enum mode mode, enum truth *ret) {
	for (*ret = TRUTH_NO;;) {
		cleanup_with(grub_words_free) struct grub_words words = {0};
		const char *next;
		enum grub_end end;
		int r;

		*at = grub_words_skip(*at);
		if ((next = keyword(*at, "then"))) {
			*at = next;
			return 0;
		}
		r = read_words(run, at, &words, &end);
		if (r == 0 && end != GRUB_STATEMENT)
			r = run_refuse(run, "an \"if\" without \"then\"");
		if (r == 0 && mode != MODE_SKIP)
			r = judge(run, &words, mode, ret);
		if (r < 0)
			return r;
	}
}

enum stop { STOP_END, STOP_ELIF, STOP_ELSE, STOP_FI };

static int run_if(struct run *run, const char **at, enum mode mode);

static int run_block(struct run *run, const char **at, enum mode mode, enum stop *ret) {
	static const char *const ends[] = {[STOP_ELIF] = "elif", [STOP_ELSE] = "else", [STOP_FI] = "fi"};
	static const char *const loops[] = {"for", "while", "until", "case", "select"};
	bool end = false;
	int r = 0;

	*ret = STOP_END;
	while (r == 0 && !end) {
		const char *next;
		*at = grub_words_skip(*at);
		for (enum stop stop = STOP_ELIF; stop <= STOP_FI; stop++)
			if ((next = keyword(*at, ends[stop]))) {
				*at = next;
				*ret = stop;
				return 0;
			}
		for (size_t i = 0; i < ELEMENTS(loops); i++)
			if (keyword(*at, loops[i]))
				return run_refuse(run, "\"%s\" is a form that is not known here", loops[i]);
		if ((next = keyword(*at, "if"))) {
			*at = next;
			r = run_if(run, at, mode);
		} else {
			r = run_statement(run, at, mode, &end);
		}
	}
	return r;
}

// The mode of a branch whose condition has this truth, after the truth of those before it.
static enum mode branch_mode(enum mode outer, enum truth before, enum truth condition) {
	if (outer == MODE_SKIP || before == TRUTH_YES || condition == TRUTH_NO)
		return MODE_SKIP;
	return before == TRUTH_UNKNOWN || condition == TRUTH_UNKNOWN ? MODE_UNSURE : outer;
}

static int run_branches(struct run *run, const char **at, enum mode mode) {
	enum truth before = TRUTH_NO, condition;
	enum stop stop = STOP_ELIF;
	int r;

	do {
		condition = TRUTH_YES;
		r = stop == STOP_ELIF ? run_condition(run, at, branch_mode(mode, before, TRUTH_YES), &condition) : 0;
		if (r == 0)
			r = run_block(run, at, branch_mode(mode, before, condition), &stop);
		if (condition == TRUTH_YES || (condition == TRUTH_UNKNOWN && before == TRUTH_NO))
			before = condition;
	} while (r == 0 && (stop == STOP_ELIF || stop == STOP_ELSE));
	return r == 0 && stop == STOP_END ? run_refuse(run, "an \"if\" without \"fi\"") : r;
}

static int run_if(struct run *run, const char **at, enum mode mode) {
	int r;

	if (++run->depth > DEPTH_MAX)
		return run_refuse(run, "it is nested too deeply");
	r = run_branches(run, at, mode);
	run->depth--;
	return r;
}

static int run_whole(struct run *run, const char *script, enum mode mode) {
	enum stop stop = STOP_END;
	int r;

	if (++run->depth > DEPTH_MAX)
		return run_refuse(run, "it is nested too deeply");
	r = run_block(run, &script, mode, &stop);
	run->depth--;
	return r == 0 && stop != STOP_END ? run_refuse(run, "an \"else\" or \"fi\" without \"if\"") : r;
}

int grub_find(const char *script, struct variables *variables, const struct grub_source *source,
	      struct entries *entries, struct entry **ret, struct text *reason) {
	struct run run = {variables, entries, source, reason, .entry = -1, .menu = -1, .script = run_whole};
	cleanup_free char *wanted = NULL;
	int r = run_script(&run, script, MODE_RUN);

	if (r == 0 && run.hands_over && entries->count == 0)
		r = GRUB_HANDS_OVER;
	else if (r == 0 && run.hands_over)
		r = run_refuse(&run, "it starts another menu");
	if (r == 0)
		wanted = strdup(variables_get(variables, "default", strlen("default")));
	if (r == 0)
		r = wanted ? run_menu(&run, -1, wanted) : -ENOMEM;
	*ret = r == 0 ? &entries->items[run.entry] : NULL;
	for (size_t i = 0; i < run.function_count; i++) {
		free(run.functions[i].name);
		free(run.functions[i].body);
	}
	return r;
}
