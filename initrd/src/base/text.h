// SPDX-License-Identifier: Apache-2.0
// A growing string. If an allocation fails, the string stays unchanged and `failed` is set: check it once, at the end.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct text {
	char *data; // NUL-terminated; NULL while empty
	size_t size, room;
	bool failed;
};

void text_add(struct text *text, const void *data, size_t size);
void text_adds(struct text *text, const char *string);
void text_addf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *text_string(const struct text *text); // never NULL
void text_free(struct text *text);
