// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/border.h"
#include "base/border_open.h"
#include "base/cleanup.h"

struct walk {
	const struct border *border;
	enum border_kind kind;
	border_visit *visit;
	void *context;
	struct fault *fault;
};

struct names {
	size_t count;
	char *items[BORDER_NAMES_MAX];
};

static void free_names(struct names **names) {
	while (*names && (*names)->count)
		free((*names)->items[--(*names)->count]);
	free(*names);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static bool has_control(const char *name) {
	for (; *name; name++)
		if ((unsigned char)*name < ' ' || *name == 0x7f)
			return true;
	return false;
}

static int add_name(struct names *names, const char *name) {
	if (names->count == BORDER_NAMES_MAX)
		return -EFBIG;
	names->items[names->count] = strdup(name);
	return names->items[names->count] ? (names->count++, 0) : -ENOMEM;
}

static int read_names(const struct border *border, const char *path, const char *pattern, struct names *ret) {
	cleanup_close int fd = border_openat(border, path, O_RDONLY | O_DIRECTORY);
	cleanup_dir DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return fd < 0 ? fd : -errno;
	(void)steal_fd(&fd);
	for (errno = 0; r == 0 && (entry = readdir(dir)); errno = 0)
		if (fnmatch(pattern, entry->d_name, FNM_PERIOD) == 0 && !has_control(entry->d_name))
			r = add_name(ret, entry->d_name);
	if (r == 0 && errno)
		r = -errno;
	qsort(ret->items, ret->count, sizeof(*ret->items), by_name);
	return r;
}

// The end of a pattern: a path that may exist.
static int visit(const struct walk *walk, const char *path) {
	cleanup_close int fd = border_openat(walk->border, path,
					     O_PATH | (walk->kind == BORDER_NAMES ? O_NOFOLLOW : 0));
	struct stat st;

	if (fd < 0 && !border_is_missing(fd))
		return border_fault(walk->fault, fd, path);
	if (fd < 0 || (walk->kind == BORDER_FILES && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))))
		return 0;
	return walk->visit(path, walk->context);
}

static int match(const struct walk *walk, const char *path, const char *pattern);

static int descend(const struct walk *walk, const char *path, const char *name, const char *rest) {
	char longer[PATH_MAX];

	if (snprintf(longer, sizeof(longer), "%s/%s", path, name) >= (int)sizeof(longer))
		return 0;
	return match(walk, longer, rest);
}

// `path` has no wildcards any more, `pattern` may have.
static int match(const struct walk *walk, const char *path, const char *pattern) {
	cleanup_with(free_names) struct names *names = NULL;
	char literal[PATH_MAX], component[NAME_MAX + 1];
	size_t length = strlen(path), size;
	int r;

	memcpy(literal, path, length + 1);
	for (;; length += size + 1) {
		pattern += strspn(pattern, "/");
		size = strcspn(pattern, "/");
		if (size == 0)
			return visit(walk, literal);
		if (size > NAME_MAX || length + 1 + size >= sizeof(literal))
			return 0;
		memcpy(component, pattern, size);
		component[size] = 0;
		pattern += size;
		if (strpbrk(component, "*?["))
			break;
		literal[length] = '/';
		memcpy(literal + length + 1, component, size + 1);
	}
	names = calloc(1, sizeof(*names));
	r = names ? read_names(walk->border, literal, component, names) : -ENOMEM;
	if (r == -EFBIG)
		return fault_set(walk->fault, CODE_UNSUPPORTED,
				 "%s of the installed system has more than %u names like %s", literal, BORDER_NAMES_MAX,
				 component);
	if (r < 0)
		return border_is_missing(r) ? 0 : border_fault(walk->fault, r, literal);
	for (size_t i = 0; r == 0 && i < names->count; i++)
		r = descend(walk, literal, names->items[i], pattern);
	return r;
}

int border_match(const struct border *border, const char *pattern, enum border_kind kind, border_visit *visitor,
		 void *context, struct fault *fault) {
	const struct walk walk = {border, kind, visitor, context, fault};
	return match(&walk, "", pattern);
}
