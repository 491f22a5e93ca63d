// SPDX-License-Identifier: Apache-2.0
#include "node/kernel_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

#define RECORD_MAX 8192u // longest record of /dev/kmsg

void kernel_log_line(const char *record, size_t size, struct text *text) {
	const char *message = memchr(record, ';', size),
		   *end = message ? memchr(message, '\n', size - (size_t)(message - record)) : NULL;
	unsigned long long microseconds;
	char head[64];

	if (!message || (size_t)(message - record) >= sizeof(head))
		return;
	memcpy(head, record, (size_t)(message - record));
	head[message - record] = 0;
	if (sscanf(head, "%*u,%*u,%llu", &microseconds) != 1)
		return;
	if (!end)
		end = record + size;
	text_addf(text, "[%5llu.%06llu] %.*s\n", microseconds / 1000000, microseconds % 1000000,
		  (int)(end - message - 1), message + 1);
}

void kernel_log_tail(const char *path, size_t max, struct text *text) {
	cleanup_close int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	cleanup_with(text_free) struct text all = {0};
	char record[RECORD_MAX];
	const char *from;

	while (fd >= 0) {
		ssize_t n = read(fd, record, sizeof(record));
		// records were overwritten meanwhile: continue after them
		if (n < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (n <= 0)
			break;
		kernel_log_line(record, (size_t)n, &all);
	}
	from = text_string(&all);
	if (all.size > max) {
		from += all.size - max;
		from += strcspn(from, "\n") + 1;
	}
	text_adds(text, from);
}
