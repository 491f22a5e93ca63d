// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "plan/values.h"

#define DISK_RULES \
	{"disk", true, "selector of the disk", NULL, check_selector}, \
	{"keep", false, "selectors, joined by ;, of disks never to touch", NULL, check_keep}

const struct operand_rule wipe_rules[] = {
	DISK_RULES,
	{"level", false, "how thoroughly (clear)", "clear|signatures", NULL},
	{0},
};

#define WRITE_RULES \
	{"image", true, "URL of the image, or several joined by ,", NULL, check_urls}, \
	{"digest", true, "sha256:<64 hex> of the image's index", NULL, check_digest}, \
	{"signature", false, "of the digest, base64; else the one in the file counts", NULL, check_signature}, \
	{"unsigned", false, "an image without a signature (refuse)", "refuse|allow", NULL}, \
	{"mode", false, "write all, or what differs (auto)", "full|delta|auto", NULL}, \
	{"gaps", false, "what becomes of free space (discard)", "discard|zero|keep", NULL}, \
	{"verify", false, "how much is read back (sample)", "none|sample|full", NULL}

const struct operand_rule write_rules[] = {DISK_RULES, WRITE_RULES, {0}};

const struct operand_rule write_shell_rules[] = {
	{"disk", false, "selector of the disk", NULL, check_selector},
	{"keep", false, "selectors, joined by ;, of disks never to touch", NULL, check_keep},
	{"file", false, "instead of a disk: a regular file, made or grown to the image's size", NULL, NULL},
	WRITE_RULES,
	{0},
};

const struct operand_rule capture_rules[] = {
	DISK_RULES,
	{"upload", true, "URL to put the image to", NULL, check_url},
	{"level", false, "zstd level, 1 to 19 (3)", NULL, check_level},
	{0},
};

const struct operand_rule configure_rules[] = {
	DISK_RULES,
	{"hostname", false, "name of the node", NULL, check_hostname},
	{"grow", false, "what becomes larger (last)", "last|none", NULL},
	{"bootorder", false, "what UEFI boots first (keep)", "keep|disk|network", NULL},
	{0},
};

const struct operand_rule kexec_rules[] = {
	DISK_RULES,
	{"append", false, "kernel arguments to add", NULL, NULL},
	{"fallback", false, "when there is no kernel to load (none)", "none|reboot", NULL},
	{"watchdog", false, "seconds to arm a hardware watchdog with, 10 to 3600", NULL, check_watchdog},
	{0},
};

static const struct operand_rule rescue_rules[] = {
	{"keys", true, "SSH public keys, one a line", NULL, check_keys},
	{0},
};

static const struct operand_rule no_rules[] = {{0}};

static const struct step {
	const char *verb;
	bool last;
	const struct operand_rule *rules;
} steps[] = {
	{"wipe", false, wipe_rules}, {"write", false, write_rules}, {"configure", false, configure_rules},
	{"capture", false, capture_rules},
	{"kexec", true, kexec_rules}, {"reboot", true, no_rules}, {"poweroff", true, no_rules},
	{"idle", true, no_rules}, {"rescue", true, rescue_rules},
};

static const struct step *find_step(const char *verb) {
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (!strcmp(steps[i].verb, verb))
			return &steps[i];
	return NULL;
}

static int check_step(const char *line, size_t size, bool *ret_last, struct fault *fault) {
	struct operands operands = {0};
	const struct step *step = NULL;
	int r = operands_parse(line, size, &operands, fault);

	if (r == 0 && !(step = find_step(operands.verb)))
		r = fault_set(fault, CODE_USAGE, "unknown verb %s", operands.verb);
	if (r == 0 && (r = operands_check(&operands, step->rules, fault)) < 0)
		fault_prefix(fault, r, "%s: ", step->verb);
	if (r == 0)
		*ret_last = step->last;
	operands_free(&operands);
	return r;
}

static int check_generation(const char *line, size_t size, uint64_t *ret, struct fault *fault) {
	char number[24];
	const size_t word = strlen("generation ");

	if (size < word || memcmp(line, "generation ", word) || size - word >= sizeof(number))
		return fault_set(fault, CODE_USAGE, "must be \"generation N\", N at most 2^63-1");
	snprintf(number, sizeof(number), "%.*s", (int)(size - word), line + word);
	if (strlen(number) != size - word || number_parse(number, NUMBER_MAX, ret) < 0)
		return fault_set(fault, CODE_USAGE, "generation must be a decimal number of at most 2^63-1, no leading zeros");
	return 0;
}

int plan_generation(const char *data, size_t size, uint64_t *ret_generation, struct fault *fault) {
	const char *first = memchr(data, '\n', size);
	const char *second = first ? memchr(first + 1, '\n', size - (size_t)(first + 1 - data)) : NULL;

	if (!second)
		return fault_set(fault, CODE_USAGE, "the plan has no second line");
	return check_generation(first + 1, (size_t)(second - first - 1), ret_generation, fault);
}

// Where the checks of a plan have got to.
struct place {
	unsigned line;
	uint64_t generation;
	bool ended; // the last step has been seen
};

static int check_line(struct place *at, const char *line, size_t size, struct fault *fault) {
	if (at->line == 1) {
		if (size != strlen("plan 1") || memcmp(line, "plan 1", size))
			return fault_set(fault, CODE_USAGE, "must be \"plan 1\": another version is not understood");
		return 0;
	}
	if (at->line == 2)
		return check_generation(line, size, &at->generation, fault);
	if (at->ended)
		return fault_set(fault, CODE_USAGE, "kexec, reboot, poweroff, idle and rescue stand only at the end");
	return check_step(line, size, &at->ended, fault);
}

int plan_check(const char *data, size_t size, uint64_t *ret_generation, struct fault *fault) {
	struct place at = {0};
	const char *end = data + size;
	int r;

	while (data < end) {
		const char *newline = memchr(data, '\n', (size_t)(end - data));
		at.line++;
		if (at.line > PLAN_LINES_MAX)
			return fault_set(fault, CODE_USAGE, "line %u: a plan has at most %u lines", at.line, PLAN_LINES_MAX);
		if (!newline)
			return fault_set(fault, CODE_USAGE, "line %u: no LF at its end", at.line);
		if ((size_t)(newline - data) >= LINE_MAX_BYTES)
			return fault_set(fault, CODE_USAGE, "line %u: longer than %u bytes", at.line, LINE_MAX_BYTES);
		r = check_line(&at, data, (size_t)(newline - data), fault);
		if (r < 0)
			return fault_prefix(fault, r, "line %u: ", at.line);
		data = newline + 1;
	}
	if (!at.ended)
		return fault_set(fault, CODE_USAGE, "line %u: a plan ends with one of kexec, reboot, poweroff, idle, rescue", at.line + 1);
	*ret_generation = at.generation;
	return 0;
}
