// SPDX-License-Identifier: Apache-2.0
#include "verbs/help.h"

#include <string.h>

#include "base/cleanup.h"

#define COLUMNS 80u
#define NAME 12 // columns of a verb, and of a key

// Prints a text whose first word stands in `column`; the lines after the first begin in `indent`. A line may end at a
// space, and behind the | of a list of choices.
static void print_wrapped(FILE *out, size_t column, size_t indent, const char *text) {
	bool is_first = true, has_space = false;

	while (*text) {
		size_t size = strcspn(text, " |");
		size += text[size] == '|';
		if (!is_first && column + has_space + size > COLUMNS) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
			has_space = false;
		}
		fprintf(out, "%s%.*s", has_space ? " " : "", (int)size, text);
		column += has_space + size;
		text += size;
		is_first = false;
		has_space = *text == ' ';
		text += has_space;
	}
	fputc('\n', out);
}

static void print_row(FILE *out, const char *name, const char *text) {
	int n = fprintf(out, "  %-*s ", NAME, name);
	print_wrapped(out, n > 0 ? (size_t)n : 0, NAME + 3, text);
}

void help_verbs(FILE *out, const struct verb *verbs, size_t count) {
	fputs("usage: sledc VERB key=value...   sledc VERB --help   sledc --version\n\n", out);
	for (size_t i = 0; i < count; i++)
		print_row(out, verbs[i].name, verbs[i].help);
	fputc('\n', out);
	print_wrapped(out, 0, 6, "exit: " CODE_NAMES);
}

static void print_operand(FILE *out, const struct operand_rule *rule) {
	cleanup_with(text_free) struct text text = {0};

	text_addf(&text, "%s%s%s%s", rule->help, rule->choices ? ": " : "", rule->choices ? rule->choices : "",
		  rule->required ? " [required]" : "");
	print_row(out, rule->key, text_string(&text));
}

void help_verb(FILE *out, const struct verb *verb) {
	cleanup_with(text_free) struct text text = {0};

	text_addf(&text, "sledc %s%s%s: %s", verb->name, verb->words ? " " : "", verb->words ? verb->words : "",
		  verb->help);
	print_wrapped(out, 0, 2, text_string(&text));
	for (const struct operand_rule *rule = verb->rules; rule && rule->key; rule++)
		print_operand(out, rule);
}
