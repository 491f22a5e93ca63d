// SPDX-License-Identifier: Apache-2.0
#include "disk/selector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "disk/transport.h"

static const char *const term_words[] = {
	[TERM_SERIAL] = "serial:",
	[TERM_WWN] = "wwn:",
	[TERM_PATH] = "path:",
	[TERM_MODEL] = "model:",
	[TERM_VENDOR] = "vendor:",
	[TERM_TRANSPORT] = "transport:",
	[TERM_ROTATIONAL] = "rotational:",
	[TERM_PART_UUID] = "part-uuid:",
	[TERM_PART_LABEL] = "part-label:",
	[TERM_SIZE] = "size:",
};
#define TERMS "serial:S wwn:W path:P model:GLOB vendor:GLOB transport:T rotational:0|1 size:MIN-MAX smallest only"

static int hex_pair(const char *at) {
	char digits[3] = {at[0], at[0] ? at[1] : 0, 0};
	if (strlen(digits) != 2 || strspn(digits, "0123456789abcdefABCDEF") != 2)
		return -1;
	return (int)strtol(digits, NULL, 16);
}

// A "," or "%" inside a term is percent-encoded once more than the operand is.
static int decode_value(const char *text, char **ret, struct fault *fault) {
	cleanup_free char *out = strdup(text);
	size_t n = 0;

	if (!out)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "selector");
	for (const char *c = text; *c; c++) {
		int byte = *c == '%' ? hex_pair(c + 1) : (unsigned char)*c;
		if (byte <= 0)
			return fault_set(fault, CODE_USAGE, "\"%s\": write %% inside a term as %%25", text);
		out[n++] = (char)byte;
		c += *c == '%' ? 2 : 0;
	}
	out[n] = 0;
	*ret = steal_pointer(&out);
	return 0;
}

static int parse_size(const char *text, struct term *term, struct fault *fault) {
	const char *dash = strchr(text, '-');
	cleanup_free char *least = dash ? strndup(text, (size_t)(dash - text)) : NULL;

	term->least = 0;
	term->most = NUMBER_MAX;
	if (!least || (!*least && !dash[1]) || (*least && number_parse(least, NUMBER_MAX, &term->least) < 0) ||
	    (dash[1] && number_parse(dash + 1, NUMBER_MAX, &term->most) < 0) || term->least > term->most)
		return fault_set(fault, CODE_USAGE, "\"size:%s\" is not size:MIN-MAX in bytes; MIN or MAX may be empty",
				 text);
	return 0;
}

static int parse_value(const char *text, struct term *term, struct fault *fault) {
	int r;

	if (term->kind == TERM_SIZE)
		return parse_size(text, term, fault);
	if (!*text)
		return fault_set(fault, CODE_USAGE, "\"%s\" has no value", term_words[term->kind]);
	r = decode_value(text, &term->value, fault);
	if (r < 0)
		return r;
	if (term->kind == TERM_ROTATIONAL && strcmp(term->value, "0") && strcmp(term->value, "1"))
		return fault_set(fault, CODE_USAGE, "rotational: must be 0 or 1");
	if (term->kind == TERM_TRANSPORT && !transport_is_word(term->value))
		return fault_set(fault, CODE_USAGE,
				 "transport: must be nvme, sata, sas, raid, virtio, mmc, usb, fc, iscsi or nvme-of");
	return 0;
}

static int parse_term(const char *text, struct term *term, struct fault *fault) {
	if (!strcmp(text, "only") || !strcmp(text, "smallest")) {
		term->kind = *text == 'o' ? TERM_ONLY : TERM_SMALLEST;
		return 0;
	}
	for (enum term_kind kind = TERM_SERIAL; kind <= TERM_SIZE; kind++) {
		size_t n = strlen(term_words[kind]);
		if (strncmp(text, term_words[kind], n))
			continue;
		term->kind = kind;
		return parse_value(text + n, term, fault);
	}
	return fault_set(fault, CODE_USAGE, "\"%s\" is not one of " TERMS, text);
}

static int parse_any(const char *text, struct selector *ret, struct fault *fault) {
	cleanup_free char *copy = strdup(text);
	char *rest = copy, *one;

	*ret = (struct selector){.text = strdup(text)};
	if (!copy || !ret->text)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "selector");
	while ((one = strsep(&rest, ","))) {
		int r;
		if (ret->count == TERMS_MAX)
			return fault_set(fault, CODE_USAGE, "more than %u terms", TERMS_MAX);
		r = parse_term(one, &ret->terms[ret->count++], fault);
		if (r < 0)
			return r;
	}
	return 0;
}

int selector_parse(const char *text, struct selector *ret, struct fault *fault) {
	int r = parse_any(text, ret, fault);

	if (r == 0 && (selector_has(ret, TERM_PART_UUID) || selector_has(ret, TERM_PART_LABEL)))
		return fault_set(fault, CODE_USAGE, "\"%s\": partitions can be kept, not selected", text);
	return r;
}

typedef int parse_one(const char *text, struct selector *ret, struct fault *fault);

static int parse_list(const char *text, parse_one *parse, struct keep *ret, struct fault *fault) {
	cleanup_free char *copy = strdup(text);
	char *rest = copy, *one;

	*ret = (struct keep){0};
	if (!copy)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "selectors");
	while ((one = strsep(&rest, ";"))) {
		int r;
		if (ret->count == KEEP_MAX)
			return fault_set(fault, CODE_USAGE, "more than %u selectors", KEEP_MAX);
		r = parse(one, &ret->selectors[ret->count++], fault);
		if (r < 0)
			return r;
	}
	return 0;
}

int selectors_parse(const char *text, struct keep *ret, struct fault *fault) {
	return parse_list(text, selector_parse, ret, fault);
}

int keep_parse(const char *text, struct keep *ret, struct fault *fault) {
	int r = parse_list(text, parse_any, ret, fault);

	for (size_t i = 0; r == 0 && i < ret->count; i++)
		if (selector_has(&ret->selectors[i], TERM_SMALLEST))
			return fault_set(fault, CODE_USAGE, "\"%s\": what is kept must not depend on other disks",
					 ret->selectors[i].text);
	return r;
}

void selector_free(struct selector *selector) {
	while (selector->count)
		free(selector->terms[--selector->count].value);
	free(selector->text);
}

void keep_free(struct keep *keep) {
	while (keep->count)
		selector_free(&keep->selectors[--keep->count]);
}

// "*" matches any bytes. Backtracks only to the last "*": the cost is at most the product of the lengths.
static bool glob_matches(const char *glob, const char *text) {
	const char *star = NULL, *mark = NULL;

	while (*text) {
		if (*glob == '*') {
			star = glob++;
			mark = text;
		} else if (*glob == *text) {
			glob++;
			text++;
		} else if (star) {
			glob = star + 1;
			text = ++mark;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return !*glob;
}

static bool has_part(const struct disk *disk, const char *kind, const char *value) {
	size_t head = strlen(kind), n = strlen(value);

	for (const char *at = disk->parts; at && *at; at += strcspn(at, "\n") + 1)
		if (strcspn(at, "\n") == head + n && !memcmp(at, kind, head) && !memcmp(at + head, value, n))
			return true;
	return false;
}

static bool term_matches(const struct term *term, const struct disk *disk) {
	switch (term->kind) {
	case TERM_SERIAL: return !strcmp(term->value, disk->serial);
	case TERM_WWN: return !strcmp(term->value, disk->wwn);
	case TERM_PATH: return !strcmp(term->value, disk->path) || !strcmp(term->value, disk->path_short);
	case TERM_MODEL: return glob_matches(term->value, disk->model);
	case TERM_VENDOR: return glob_matches(term->value, disk->vendor);
	case TERM_TRANSPORT: return !strcmp(term->value, disk->transport);
	case TERM_ROTATIONAL: return (*term->value == '1') == disk->rotational;
	case TERM_PART_UUID:
	case TERM_PART_LABEL: return has_part(disk, term_words[term->kind], term->value);
	case TERM_SIZE: return disk->bytes >= term->least && disk->bytes <= term->most;
	case TERM_SMALLEST:
	case TERM_ONLY: return true;
	}
	return false;
}

bool selector_matches(const struct selector *selector, const struct disk *disk) {
	for (size_t i = 0; i < selector->count; i++)
		if (!term_matches(&selector->terms[i], disk))
			return false;
	return selector->count > 0;
}

bool selector_has(const struct selector *selector, enum term_kind kind) {
	for (size_t i = 0; i < selector->count; i++)
		if (selector->terms[i].kind == kind)
			return true;
	return false;
}

bool selector_chooses(const struct selector *selector, const struct disk *disk) {
	return selector_matches(selector, disk) &&
	       (transport_is_local(disk->transport) || selector_has(selector, TERM_SERIAL) ||
		selector_has(selector, TERM_WWN) || selector_has(selector, TERM_PATH));
}

bool keep_matches(const struct keep *keep, const struct disk *disk) {
	for (size_t i = 0; i < keep->count; i++)
		if (selector_matches(&keep->selectors[i], disk))
			return true;
	return false;
}
