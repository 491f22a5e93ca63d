// SPDX-License-Identifier: Apache-2.0
#include "base/operand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static bool plain(unsigned char c) {
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("-._~:/,@+;*", c));
}

static int hex(unsigned char c) {
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool key_is_right(const char *key, size_t size) {
	if (size < 1 || size > KEY_MAX || key[0] < 'a' || key[0] > 'z')
		return false;
	for (size_t i = 1; i < size; i++)
		if (!(key[i] >= 'a' && key[i] <= 'z') && !(key[i] >= '0' && key[i] <= '9') && key[i] != '_' &&
		    key[i] != '-')
			return false;
	return true;
}

static int decode(const char *key, const char *in, size_t size, char **ret, struct fault *fault) {
	cleanup_free char *out = malloc(size + 1);
	size_t n = 0;

	if (!out)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "%s", key);
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)in[i];
		if (c == '%') {
			int high = size - i > 2 ? hex((unsigned char)in[i + 1]) : -1;
			int low = size - i > 2 ? hex((unsigned char)in[i + 2]) : -1;
			if (high < 0 || low < 0)
				return fault_set(fault, CODE_USAGE, "%s: %% must be followed by two hexadecimal digits",
						 key);
			if (high + low == 0)
				return fault_set(fault, CODE_USAGE, "%s: %%00 is not allowed", key);
			out[n++] = (char)(high << 4 | low);
			i += 2;
		} else if (plain(c)) {
			out[n++] = (char)c;
		} else {
			return fault_set(fault, CODE_USAGE, "%s: byte 0x%02x must be written as %%%02X", key, c, c);
		}
	}
	if (n > VALUE_MAX)
		return fault_set(fault, CODE_USAGE, "%s: %zu bytes, at most %u", key, n, VALUE_MAX);
	out[n] = 0;
	*ret = steal_pointer(&out);
	return 0;
}

int operands_add(struct operands *operands, const char *word, size_t size, struct fault *fault) {
	const char *equals = memchr(word, '=', size);
	size_t key_size = equals ? (size_t)(equals - word) : 0;
	char key[KEY_MAX + 1] = "";
	char *value = NULL;
	int r;

	if (!equals || !key_is_right(word, key_size))
		return fault_set(fault, CODE_USAGE, "\"%.*s\" is not key=value", (int)(size > 64 ? 64 : size), word);
	memcpy(key, word, key_size);
	if (operands_get(operands, key))
		return fault_set(fault, CODE_USAGE, "key %s is given twice", key);
	if (operands->count == OPERANDS_MAX)
		return fault_set(fault, CODE_USAGE, "more than %u operands", OPERANDS_MAX);
	r = decode(key, equals + 1, size - key_size - 1, &value, fault);
	if (r < 0)
		return r;
	operands->items[operands->count] = (struct operand){.key = strdup(key), .value = value};
	if (!operands->items[operands->count].key) {
		free(value);
		return fault_errno(fault, CODE_FAILED, ENOMEM, "%s", key);
	}
	operands->count++;
	return 0;
}

int operands_parse(const char *line, size_t size, struct operands *ret, struct fault *fault) {
	const char *end = line + size, *word = line;

	*ret = (struct operands){0};
	for (bool first = true; first || word <= end; first = false) {
		const char *space = memchr(word, ' ', (size_t)(end - word));
		size_t n = (size_t)((space ? space : end) - word);
		int r;

		if (n == 0)
			return fault_set(fault, CODE_USAGE,
					 "words must be separated by exactly one space, without a space at either end");
		if (first) {
			if (!key_is_right(word, n))
				return fault_set(fault, CODE_USAGE, "\"%.*s\" is not a verb", (int)(n > 64 ? 64 : n),
						 word);
			memcpy(ret->verb, word, n);
			ret->verb[n] = 0;
		} else if ((r = operands_add(ret, word, n, fault)) < 0) {
			return r;
		}
		word += n + 1;
	}
	return 0;
}

static bool is_choice(const char *choices, const char *value) {
	size_t n = strlen(value);
	for (const char *c = choices; c; c = strchr(c, '|') ? strchr(c, '|') + 1 : NULL)
		if (n && !strncmp(c, value, n) && (c[n] == '|' || !c[n]))
			return true;
	return false;
}

static const struct operand_rule *find_rule(const struct operand_rule *rules, const char *key) {
	for (; rules->key; rules++)
		if (!strcmp(rules->key, key))
			return rules;
	return NULL;
}

static int refuse_key(const char *key, const struct operand_rule *rules, struct fault *fault) {
	struct text known = {0};
	int r;

	for (; rules->key; rules++)
		text_addf(&known, " %s", rules->key);
	r = fault_set(fault, CODE_USAGE, "unknown key %s; known keys:%s", key, known.size ? known.data : " none");
	text_free(&known);
	return r;
}

int operands_check(const struct operands *operands, const struct operand_rule *rules, struct fault *fault) {
	for (size_t i = 0; i < operands->count; i++) {
		const struct operand *o = &operands->items[i];
		const struct operand_rule *rule = find_rule(rules, o->key);
		int r;

		if (!rule)
			return refuse_key(o->key, rules, fault);
		if (rule->choices && !is_choice(rule->choices, o->value))
			return fault_set(fault, CODE_USAGE, "%s: \"%s\" is not one of %s", o->key, o->value,
					 rule->choices);
		if (rule->check && (r = rule->check(o->value, fault)) < 0)
			return fault_prefix(fault, r, "%s: ", o->key);
	}
	for (; rules->key; rules++)
		if (rules->required && !operands_get(operands, rules->key))
			return fault_set(fault, CODE_USAGE, "%s= is missing", rules->key);
	return 0;
}

const char *operands_get(const struct operands *operands, const char *key) {
	for (size_t i = 0; i < operands->count; i++)
		if (!strcmp(operands->items[i].key, key))
			return operands->items[i].value;
	return NULL;
}

const char *operands_get_or(const struct operands *operands, const char *key, const char *otherwise) {
	const char *value = operands_get(operands, key);
	return value ? value : otherwise;
}

void operands_free(struct operands *operands) {
	for (size_t i = 0; i < operands->count; i++) {
		free(operands->items[i].key);
		free(operands->items[i].value);
	}
	operands->count = 0;
}

void operand_encode(struct text *text, const char *value, size_t size) {
	for (size_t i = 0; i < size && i < VALUE_MAX; i++) {
		unsigned char c = (unsigned char)value[i];
		if (plain(c))
			text_add(text, &value[i], 1);
		else if (c)
			text_addf(text, "%%%02X", c);
	}
}

void operand_write(struct text *text, const char *key, const char *value) {
	text_addf(text, " %s=", key);
	operand_encode(text, value, strlen(value));
}
