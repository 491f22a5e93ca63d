// SPDX-License-Identifier: Apache-2.0
#include "image/floor.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"

#define FILE_MAX (FLOORS_MAX * (sizeof(struct floor_line) + 2))

static const struct floor_line *find(const struct floors *floors, const char *line) {
	for (size_t i = 0; i < floors->count; i++)
		if (!strcmp(floors->items[i].line, line))
			return &floors->items[i];
	return NULL;
}

// One "LINE DATE" of `size` bytes, without its LF.
static bool parse_line(const char *text, size_t size, struct floor_line *ret) {
	const char *space = memchr(text, ' ', size);
	size_t name = space ? (size_t)(space - text) : 0, date = size - name - 1;

	if (!space || name > NAME_MAX_BYTES || date > DATE_BYTES)
		return false;
	*ret = (struct floor_line){0};
	memcpy(ret->line, text, name);
	memcpy(ret->date, space + 1, date);
	return is_image_name(ret->line) && strlen(ret->date) == date && is_date(ret->date);
}

int floors_parse(const char *text, struct floors *ret, struct fault *fault) {
	ret->count = 0;
	for (unsigned number = 1; *text; number++) {
		size_t size = strcspn(text, "\n");
		struct floor_line line;
		if (!text[size] || !parse_line(text, size, &line))
			return fault_set(fault, CODE_FAILED,
					 "line %u: \"%.*s\" is not LINE YYYY-MM-DDTHH:MM:SSZ and a line feed", number,
					 (int)(size < 200 ? size : 200), text);
		if (find(ret, line.line))
			return fault_set(fault, CODE_FAILED, "line %u: %s has a floor already", number, line.line);
		if (ret->count == FLOORS_MAX)
			return fault_set(fault, CODE_FAILED, "line %u: more than %u floors", number, FLOORS_MAX);
		ret->items[ret->count++] = line;
		text += size + 1;
	}
	return 0;
}

int floors_read(const char *path, struct floors *ret, struct fault *fault) {
	cleanup_free char *text = NULL;
	size_t size = 0;
	int r = file_read(path, FILE_MAX, &text, &size);

	ret->count = 0;
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return fault_errno(fault, CODE_FAILED, r, "%s", path);
	if (strlen(text) != size)
		return fault_set(fault, CODE_FAILED, "%s: holds a byte 0", path);
	r = floors_parse(text, ret, fault);
	return r < 0 ? fault_prefix(fault, r, "%s: ", path) : 0;
}

int floors_check(const struct floors *floors, const struct statement *statement, struct fault *fault) {
	const struct floor_line *floor = find(floors, statement->line);

	if (!floor || strcmp(statement->date, floor->date) >= 0)
		return 0;
	return fault_set(fault, CODE_INTEGRITY,
			 "image %s: signed %s, but this site accepts line %s only from %s on (" DEFAULT_FLOOR
			 "): bind a newer image, or sign this one again",
			 statement->name, statement->date, statement->line, floor->date);
}
