// SPDX-License-Identifier: Apache-2.0
#include "boot/grub_run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool is_unknown(const char *word) { return strchr(word, UNKNOWN[0]) != NULL; }

int run_refuse(struct run *run, const char *format, ...) {
	char text[512];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	for (char *c = text; *c; c++)
		*c = (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c;
	if (!run->reason->size)
		text_adds(run->reason, text);
	return -ENOTSUP;
}

const char *run_own_file(const char *path) {
	size_t n = strlen(OWN_FOLDER "/");
	return strncmp(path, OWN_FOLDER "/", n) || strchr(path + n, '/') ? NULL : path + n;
}

int run_script(struct run *run, const char *script, enum mode mode) { return run->script(run, script, mode); }
