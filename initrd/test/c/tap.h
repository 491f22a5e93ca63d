// SPDX-License-Identifier: Apache-2.0
// Tests that print TAP: ok() for each fact, `return tap_done();` at the end of main.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static unsigned tap_count, tap_failed;

#define ok(fact, ...) tap_ok((fact), __FILE__, __LINE__, __VA_ARGS__)
#define same(got, wanted, ...) tap_same((got), (wanted), __FILE__, __LINE__, __VA_ARGS__)

__attribute__((format(printf, 4, 5))) static inline bool tap_ok(bool fact, const char *file, int line,
								const char *format, ...) {
	va_list arguments;

	printf("%sok %u - ", fact ? "" : "not ", ++tap_count);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	if (!fact) {
		tap_failed++;
		printf("# at %s:%d\n", file, line);
	}
	return fact;
}

#define tap_same(got, wanted, file, line, ...)                                       \
	do {                                                                         \
		const char *got_ = (got), *wanted_ = (wanted);                       \
		if (!tap_ok(!strcmp(got_, wanted_), file, line, __VA_ARGS__))        \
			printf("# got    \"%s\"\n# wanted \"%s\"\n", got_, wanted_); \
	} while (0)

static inline int tap_done(void) {
	printf("1..%u\n", tap_count);
	return tap_failed != 0;
}
