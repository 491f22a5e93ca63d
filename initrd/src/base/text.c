// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool text_reserve(struct text *text, size_t more) {
	size_t need, room = text->room ? text->room : 256;
	char *data;

	if (text->failed || __builtin_add_overflow(text->size, more, &need) || need >= SIZE_MAX / 2)
		return !(text->failed = true);
	if (need < text->room)
		return true;
	while (room <= need)
		room *= 2;
	data = realloc(text->data, room);
	if (!data)
		return !(text->failed = true);
	text->data = data;
	text->room = room;
	return true;
}

void text_add(struct text *text, const void *data, size_t size) {
	if (!text_reserve(text, size))
		return;
	if (size)
		memcpy(text->data + text->size, data, size);
	text->size += size;
	text->data[text->size] = 0;
}

void text_adds(struct text *text, const char *string) { text_add(text, string, strlen(string)); }

void text_addf(struct text *text, const char *format, ...) {
	va_list arguments;
	char *line = NULL;
	int n;

	va_start(arguments, format);
	n = vasprintf(&line, format, arguments);
	va_end(arguments);
	if (n < 0) {
		text->failed = true;
		return;
	}
	text_add(text, line, (size_t)n);
	free(line);
}

const char *text_string(const struct text *text) { return text->data ? text->data : ""; }

void text_free(struct text *text) {
	free(text->data);
	*text = (struct text){0};
}
