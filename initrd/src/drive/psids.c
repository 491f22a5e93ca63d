// SPDX-License-Identifier: Apache-2.0
#include "drive/psids.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

// Labels print a PSID in groups, with dashes, and people type it in small letters.
static bool read_psid(const char *word, size_t size, char ret[PSID + 1]) {
	size_t n = 0;

	for (size_t i = 0; i < size; i++) {
		char c = word[i];
		if (c == '-')
			continue;
		if (c >= 'a' && c <= 'z')
			c = (char)(c - 'a' + 'A');
		if (n == PSID || !((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')))
			return false;
		ret[n++] = c;
	}
	ret[n] = 0;
	return n == PSID;
}

// The PSID is the last word of the line; a serial number may have spaces. *ret_serial: its length; 0: the line is empty
// or a comment.
static bool read_line(const char *line, size_t size, size_t *ret_serial, char ret[PSID + 1]) {
	size_t start;

	*ret_serial = 0;
	while (size > 0 && strchr(" \t\r", line[size - 1]))
		size--;
	if (size == 0 || *line == '#')
		return true;
	for (start = size; start > 0 && line[start - 1] != ' ' && line[start - 1] != '\t'; start--)
		;
	if (!read_psid(line + start, size - start, ret))
		return false;
	while (start > 0 && strchr(" \t", line[start - 1]))
		start--;
	*ret_serial = start;
	return start > 0;
}

static const char *next_line(const char *line) {
	const char *end = strchr(line, '\n');
	return end ? end + 1 : line + strlen(line);
}

int psids_check(const char *text, struct fault *fault) {
	char psid[PSID + 1];
	unsigned number = 1;
	size_t serial;

	for (; *text; text = next_line(text), number++)
		if (!read_line(text, strcspn(text, "\n"), &serial, psid))
			return fault_set(fault, CODE_USAGE,
					 "line %u of the PSIDs is not a serial number and a PSID of %u letters and "
					 "digits",
					 number, PSID);
	return 0;
}

int psids_find(const char *text, const char *serial, char ret[PSID + 1]) {
	size_t size;

	for (; *text; text = next_line(text))
		if (read_line(text, strcspn(text, "\n"), &size, ret) && size > 0 && size == strlen(serial) &&
		    memcmp(text, serial, size) == 0)
			return 0;
	*ret = 0;
	return -ENOENT;
}
