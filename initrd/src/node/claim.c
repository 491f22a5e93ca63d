// SPDX-License-Identifier: Apache-2.0
#include "node/claim.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/operand.h"

#define HEAD "claim 1\n"
#define CODE_LETTERS "0123456789ABCDEFGHJKMNPQRSTVWXYZ" // without I, L, O, U

static int check_code(const char *value, struct fault *fault) {
	if (strlen(value) != 9 || strspn(value, CODE_LETTERS) != 4 || value[4] != '-' ||
	    strspn(value + 5, CODE_LETTERS) != 4)
		return fault_set(fault, CODE_USAGE,
				 "it must be 4 and 4 characters of " CODE_LETTERS ", joined by a hyphen");
	return 0;
}

static int check_nonce(const char *value, struct fault *fault) {
	if (strlen(value) != 64 || strspn(value, "0123456789abcdef") != 64)
		return fault_set(fault, CODE_USAGE, "it must be 64 lower-case hexadecimal digits");
	return 0;
}

static int check_want(const char *value, struct fault *fault) {
	static const char *const words[] = {"silence", "window", "console", "person", "tpm"};
	unsigned seen = 0;

	for (const char *word = value; *value; word = strchr(word, ',') + 1) {
		size_t n = strcspn(word, ","), i = 0;
		while (i < ELEMENTS(words) && (strlen(words[i]) != n || memcmp(words[i], word, n)))
			i++;
		if (i == ELEMENTS(words) || (seen & 1u << i))
			return fault_set(fault, CODE_USAGE,
					 "it must name silence, window, console, person and tpm at most once each");
		seen |= 1u << i;
		if (!word[n])
			return 0;
	}
	return 0;
}

static const struct operand_rule admission_rules[] = {
	{"code", true, "", NULL, check_code},
	{"nonce", true, "", NULL, check_nonce},
	{"level", true, "", "open|expected|proven|attested", NULL},
	{"want", true, "", NULL, check_want},
	{0},
};

static int read_admission(const char *line, size_t size, struct claim *ret, struct fault *fault) {
	cleanup_with(operands_free) struct operands operands = {0};
	int r = operands_parse(line, size, &operands, fault);

	if (r == 0 && strcmp(operands.verb, "admission"))
		r = fault_set(fault, CODE_USAGE, "the first word is not \"admission\"");
	if (r == 0)
		r = operands_check(&operands, admission_rules, fault);
	if (r < 0)
		return r;
	snprintf(ret->code, sizeof(ret->code), "%s", operands_get(&operands, "code"));
	snprintf(ret->nonce, sizeof(ret->nonce), "%s", operands_get(&operands, "nonce"));
	snprintf(ret->level, sizeof(ret->level), "%s", operands_get(&operands, "level"));
	snprintf(ret->want, sizeof(ret->want), "%s", operands_get(&operands, "want"));
	return 0;
}

int claim_parse(const char *data, size_t size, struct claim *ret, struct fault *fault) {
	const size_t head = strlen(HEAD);
	const char *end;
	int r;

	*ret = (struct claim){0};
	if (size > CLAIM_BYTES_MAX)
		return fault_set(fault, CODE_USAGE, "line 1: the claim is longer than %u bytes", CLAIM_BYTES_MAX);
	if (size < head || memcmp(data, HEAD, head))
		return fault_set(fault, CODE_USAGE, "line 1: it must be \"claim 1\": other versions are not supported");
	data += head;
	size -= head;
	end = size > 0 ? memchr(data, '\n', size) : NULL;
	if (!end)
		return fault_set(fault, CODE_USAGE, "line 2: it is missing, or does not end with LF");
	if ((size_t)(end - data) + 1 != size)
		return fault_set(fault, CODE_USAGE, "line 3: a claim has two lines");
	r = read_admission(data, size - 1, ret, fault);
	return r < 0 ? fault_prefix(fault, r, "line 2: ") : 0;
}
