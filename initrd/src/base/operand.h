// SPDX-License-Identifier: Apache-2.0
// The operand grammar of contract/plan.md: a verb, then key=value words, values percent-encoded. Pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "base/text.h"

#define KEY_MAX 32u	     // bytes of a key or verb
#define VALUE_MAX 2048u	     // bytes of a value, decoded
#define LINE_MAX_BYTES 4096u // of a line with its LF
#define OPERANDS_MAX 32u     // operands of one line; no verb has as many keys

struct operand {
	char *key, *value;
};

struct operands {
	char verb[KEY_MAX + 1];
	size_t count;
	struct operand items[OPERANDS_MAX];
};

// One key of a verb. `check` returns what is wrong with a value; `choices` is "a|b|c".
struct operand_rule {
	const char *key;
	bool required;
	const char *help;
	const char *choices;
	int (*check)(const char *value, struct fault *fault);
};

// Parses one "key=value" word and adds it. A second operand with the same key is refused.
int operands_add(struct operands *operands, const char *word, size_t size, struct fault *fault);

// Parses "verb key=value key=value", without the LF. Free `ret` after a failure too.
int operands_parse(const char *line, size_t size, struct operands *ret, struct fault *fault);

// Checks that every key is known, every required key is present and every value is valid. `rules` ends with a key of
// NULL.
int operands_check(const struct operands *operands, const struct operand_rule *rules, struct fault *fault);

const char *operands_get(const struct operands *operands, const char *key); // NULL when absent
const char *operands_get_or(const struct operands *operands, const char *key, const char *otherwise);
void operands_free(struct operands *operands);

// Adds " key=value", encoded. A value longer than VALUE_MAX is cut.
void operand_write(struct text *text, const char *key, const char *value);
void operand_encode(struct text *text, const char *value, size_t size);
