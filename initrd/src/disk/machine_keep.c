// SPDX-License-Identifier: Apache-2.0
#include "disk/machine_keep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

static void add(struct text *text, const char *selectors) {
	if (text->size)
		text_adds(text, ";");
	text_adds(text, selectors);
}

static int read_file(const char *root, struct text *text, struct fault *fault) {
	cleanup_free char *path = NULL, *line = NULL;
	cleanup_file FILE *file = NULL;
	size_t room = 0;

	if (asprintf(&path, "%s/etc/sled/keep", root) < 0)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "keep");
	if (!(file = fopen(path, "re")))
		return errno == ENOENT ? 0 : fault_errno(fault, CODE_FAILED, errno, "%s", path);
	while (getline(&line, &room, file) > 0) {
		line[strcspn(line, "\r\n")] = 0;
		if (*line && *line != '#')
			add(text, line);
	}
	return ferror(file) ? fault_errno(fault, CODE_FAILED, EIO, "%s", path) : 0;
}

// Every one counts: a later one must not take back what an earlier one keeps.
static int read_arguments(const char *root, struct text *text, struct fault *fault) {
	cleanup_free char *path = NULL, *line = NULL;
	cleanup_file FILE *file = NULL;
	char *rest, *word;
	size_t room = 0;

	if (asprintf(&path, "%s/proc/cmdline", root) < 0)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "keep");
	if (!(file = fopen(path, "re")))
		return errno == ENOENT ? 0 : fault_errno(fault, CODE_FAILED, errno, "%s", path);
	if (getline(&line, &room, file) <= 0) // empty, or not to be read: then nobody knows what is kept
		return feof(file) ? 0 : fault_errno(fault, CODE_FAILED, EIO, "%s", path);
	rest = line;
	while ((word = strsep(&rest, " \t\n")))
		if (!strncmp(word, "sled.keep=", strlen("sled.keep=")))
			add(text, word + strlen("sled.keep="));
	return 0;
}

int machine_keep_read(const char *root, char **ret, struct fault *fault) {
	cleanup_with(text_free) struct text text = {0};
	int r = read_file(root, &text, fault);

	if (r == 0)
		r = read_arguments(root, &text, fault);
	if (r == 0 && text.failed)
		r = fault_errno(fault, CODE_FAILED, ENOMEM, "keep");
	if (r == 0)
		*ret = steal_pointer(&text.data);
	return r;
}
