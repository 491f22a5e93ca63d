// SPDX-License-Identifier: Apache-2.0
#include "disk/sysfs.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/number.h"

void sysfs_clean(char *text) {
	char *from = text, *to = text, *end = text;

	text[strcspn(text, "\n")] = 0;
	while (isspace((unsigned char)*from))
		from++;
	for (; *from; from++) {
		*to++ = *from >= ' ' && *from < 0x7f ? *from : '?';
		if (!isspace((unsigned char)*from))
			end = to;
	}
	*end = 0;
}

static void read_line(char *ret, size_t size, const char *path) {
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, size - 1);

	ret[n > 0 ? n : 0] = 0;
	sysfs_clean(ret);
}

void sysfs_text(char *ret, size_t size, const char *format, ...) {
	char path[PATH_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	read_line(ret, size, path);
}

uint64_t sysfs_number(uint64_t otherwise, const char *format, ...) {
	char path[PATH_MAX], text[32];
	va_list arguments;
	uint64_t n;

	va_start(arguments, format);
	vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	read_line(text, sizeof(text), path);
	return number_parse(text, NUMBER_MAX, &n) < 0 ? otherwise : n;
}

void sysfs_link(char *ret, size_t size, const char *format, ...) {
	char path[PATH_MAX], target[PATH_MAX];
	va_list arguments;
	ssize_t n;

	va_start(arguments, format);
	vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = 0;
	snprintf(ret, size, "%s", strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
}
