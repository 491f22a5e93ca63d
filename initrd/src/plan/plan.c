// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "plan/steps.gen.h"
#include "plan/values.h"

const struct operand_rule write_shell_rules[] = {
	DISK_RULES(false),
	{"file", false, "instead of disk: a regular file, created or extended to the size of the image", NULL, NULL},
	{"room", false, "with file: bytes that it may have; a larger image is refused before its first byte", NULL,
	 check_positive},
	{"keys", false, "PEM file of the keys that may sign images (default SLED_KEYS, else /etc/sled/image.pub)", NULL,
	 NULL},
	IMAGE_RULES,
	WRITE_RULES,
	{0},
};
const struct operand_rule attach_rules[] = {
	{"folder", true, "where the export is mounted", NULL, NULL},
	{"keys", false, "PEM file of the keys that may sign images (default SLED_KEYS, else /etc/sled/image.pub)", NULL,
	 NULL},
	IMAGE_RULES,
	FETCH_RULES,
	{0},
};

static const struct step *find_step(const char *verb) {
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (!strcmp(steps[i].verb, verb))
			return &steps[i];
	return NULL;
}

// The state of the checks of a plan.
struct place {
	unsigned line;
	struct operands first; // of the steps that take a disk; layout has its own disks
	bool ended;	       // the last step has been seen
};

static void free_place(struct place *at) { operands_free(&at->first); }

// What `configure` would do outside of a partition.
static int check_configure(const struct operands *operands, struct fault *fault) {
	static const char *const outside[] = {"system", "grow", "bootorder", "stamp"};

	if (strcmp(operands->verb, "configure") != 0 || !operands_get(operands, "partition"))
		return 0;
	if (!operands_get(operands, "disk"))
		return fault_set(fault, CODE_USAGE, "configure: partition needs disk");
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		if (operands_get(operands, outside[i]))
			return fault_set(fault, CODE_USAGE, "configure: beside partition there is no %s", outside[i]);
	return 0;
}

static bool is_same(const struct operands *a, const struct operands *b, const char *key) {
	return !strcmp(operands_get_or(a, key, ""), operands_get_or(b, key, ""));
}

// No step reaches a byte outside of the partition that another one is about. The first step that takes a disk is kept.
static int check_partition_alone(struct place *at, struct operands *operands, struct fault *fault) {
	if (!strcmp(operands->verb, "layout") || !(operands_get(operands, "disk") || operands_get(operands, "disks")))
		return 0;
	if (at->first.count == 0) {
		at->first = *operands;
		*operands = (struct operands){0};
		return 0;
	}
	if (!operands_get(operands, "partition") && !operands_get(&at->first, "partition"))
		return 0;
	if (is_same(&at->first, operands, "disk") && is_same(&at->first, operands, "keep") &&
	    is_same(&at->first, operands, "partition"))
		return 0;
	return fault_set(fault, CODE_USAGE,
			 "%s: in a plan about a partition each step that takes a disk, but layout, has the same disk, "
			 "keep and partition",
			 operands->verb);
}

static int check_step(struct place *at, const char *line, size_t size, struct fault *fault) {
	struct operands operands = {0};
	const struct step *step = NULL;
	int r = operands_parse(line, size, &operands, fault);

	if (r == 0 && !(step = find_step(operands.verb)))
		r = fault_set(fault, CODE_USAGE, "unknown verb %s", operands.verb);
	if (r == 0 && (r = operands_check(&operands, step->rules, fault)) < 0)
		fault_prefix(fault, r, "%s: ", step->verb);
	if (r == 0)
		r = check_configure(&operands, fault);
	if (r == 0)
		r = check_partition_alone(at, &operands, fault);
	if (r == 0)
		at->ended = step->last;
	operands_free(&operands);
	return r;
}

// Reads `WORD N` in front of `end`. Returns what follows it; NULL: it is something else.
static const char *take_number(const char *at, const char *end, const char *word, uint64_t *ret) {
	const size_t length = strlen(word);
	char number[24];
	size_t size;

	if ((size_t)(end - at) < length || memcmp(at, word, length))
		return NULL;
	at += length;
	for (size = 0; at + size < end && at[size] != ' '; size++)
		if (size == sizeof(number) - 1)
			return NULL;
	memcpy(number, at, size);
	number[size] = 0;
	return strlen(number) != size || number_parse(number, NUMBER_MAX, ret) < 0 ? NULL : at + size;
}

static int check_numbers(const char *line, size_t size, struct plan_numbers *ret, struct fault *fault) {
	const char *end = line + size, *at = take_number(line, end, "generation ", &ret->generation);

	if (at)
		at = take_number(at, end, " run ", &ret->run);
	if (at != end || !ret->run)
		return fault_set(
			fault, CODE_USAGE,
			"must be \"generation N run R\": decimal numbers of at most 2^63-1, without leading zeros, "
			"R from 1");
	return 0;
}

int plan_numbers(const char *data, size_t size, struct plan_numbers *ret, struct fault *fault) {
	const char *first = memchr(data, '\n', size);
	const char *second = first ? memchr(first + 1, '\n', size - (size_t)(first + 1 - data)) : NULL;

	if (!second)
		return fault_set(fault, CODE_USAGE, "the plan has no second line");
	return check_numbers(first + 1, (size_t)(second - first - 1), ret, fault);
}

static int check_line(struct place *at, const char *line, size_t size, struct fault *fault) {
	if (at->line == 1) {
		if (size != strlen("plan 1") || memcmp(line, "plan 1", size))
			return fault_set(fault, CODE_USAGE, "must be \"plan 1\": other versions are not supported");
		return 0;
	}
	if (at->line == 2)
		return check_numbers(line, size, &(struct plan_numbers){0}, fault);
	if (at->ended)
		return fault_set(fault, CODE_USAGE, LAST_VERBS ": these are allowed only at the end of a plan");
	return check_step(at, line, size, fault);
}

int plan_check(const char *data, size_t size, struct fault *fault) {
	cleanup_with(free_place) struct place at = {0};
	const char *end = data + size;
	int r;

	while (data < end) {
		const char *newline = memchr(data, '\n', (size_t)(end - data));
		at.line++;
		if (at.line > PLAN_LINES_MAX)
			return fault_set(fault, CODE_USAGE, "line %u: a plan has at most %u lines", at.line,
					 PLAN_LINES_MAX);
		if (!newline)
			return fault_set(fault, CODE_USAGE, "line %u: it does not end with LF", at.line);
		if ((size_t)(newline - data) >= LINE_MAX_BYTES)
			return fault_set(fault, CODE_USAGE, "line %u: longer than %u bytes", at.line, LINE_MAX_BYTES);
		r = check_line(&at, data, (size_t)(newline - data), fault);
		if (r < 0)
			return fault_prefix(fault, r, "line %u: ", at.line);
		data = newline + 1;
	}
	if (!at.ended)
		return fault_set(fault, CODE_USAGE, "line %u: a plan must end with one of " LAST_VERBS, at.line + 1);
	return 0;
}
