// SPDX-License-Identifier: Apache-2.0
// For the shell, which has no way to stay below a folder: each access to the files of an installed system.
#include <stdio.h>
#include <string.h>

#include "base/border.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "verbs/verbs.h"

// The words after the name of the action and the folder.
typedef int action(const struct border *border, int count, char **words, struct fault *fault);

static int get(const struct border *border, int count, char **words, struct fault *fault) {
	cleanup_free char *data = NULL;
	size_t size = 0;
	int r = border_read(border, words[0], BORDER_READ_MAX, &data, &size, fault);

	(void)count;
	if (r == -ENOENT)
		return 0;
	return r < 0 || fwrite(data, 1, size, stdout) == size ? r : fault_set(fault, CODE_FAILED, "standard output");
}

static int read_mode(int count, char **words, struct border_mode *ret, struct fault *fault) {
	unsigned int mode, uid = (uid_t)-1, gid = (gid_t)-1;
	int end = 0;

	if (sscanf(words[0], "%4o%n", &mode, &end) != 1 || words[0][end])
		return fault_set(fault, CODE_USAGE, "mode \"%s\" is not octal", words[0]);
	end = 0;
	if (count > 1 && (sscanf(words[1], "%9u:%9u%n", &uid, &gid, &end) != 2 || words[1][end]))
		return fault_set(fault, CODE_USAGE, "owner \"%s\" is not UID:GID", words[1]);
	*ret = (struct border_mode){mode, uid, gid};
	return 0;
}

static int put(const struct border *border, int count, char **words, struct fault *fault) {
	cleanup_free char *data = NULL;
	struct border_mode mode;
	size_t size;
	int r = read_mode(count - 1, words + 1, &mode, fault);

	if (r < 0)
		return r;
	r = file_read_fd(STDIN_FILENO, BORDER_WRITE_MAX, &data, &size);
	if (r < 0)
		return fault_errno(fault, CODE_FAILED, r, "standard input, for %s", words[0]);
	return border_write(border, words[0], &mode, data, size, fault);
}

static int folder(const struct border *border, int count, char **words, struct fault *fault) {
	struct border_mode mode;
	int r = read_mode(count - 1, words + 1, &mode, fault);
	return r < 0 ? r : border_folder(border, words[0], &mode, fault);
}

static int make_link(const struct border *border, int count, char **words, struct fault *fault) {
	(void)count;
	return border_link(border, words[0], words[1], fault);
}

static int print(const char *path, void *context) {
	return puts(path) < 0 ? fault_set(context, CODE_FAILED, "standard output") : 0;
}

static int show(const struct border *border, int count, char **words, enum border_kind kind, struct fault *fault) {
	int r = 0;

	for (; r == 0 && count > 0; count--, words++)
		r = border_match(border, *words, kind, print, fault, fault);
	return r;
}

static int names(const struct border *border, int count, char **words, struct fault *fault) {
	return show(border, count, words, BORDER_NAMES, fault);
}

static int files(const struct border *border, int count, char **words, struct fault *fault) {
	return show(border, count, words, BORDER_FILES, fault);
}

struct removal {
	const struct border *border;
	struct fault *fault;
};

static int remove_one(const char *path, void *context) {
	const struct removal *removal = context;
	return border_remove(removal->border, path, removal->fault);
}

static int remove_all(const struct border *border, int count, char **words, struct fault *fault) {
	struct removal removal = {border, fault};
	int r = 0;

	for (; r == 0 && count > 0; count--, words++)
		r = border_match(border, *words, BORDER_NAMES, remove_one, &removal, fault);
	return r;
}

static int attach(const struct border *border, int count, char **words, struct fault *fault) {
	char path[PATH_MAX];
	int r = border_attach(border, words[0], words[1], path, fault);

	(void)count;
	return r < 0 ? r : print(path, fault);
}

static int bind_folder(const struct border *border, int count, char **words, struct fault *fault) {
	char path[PATH_MAX];
	int r = border_bind(border, words[0], words[1], path, fault);

	(void)count;
	return r < 0 ? r : print(path, fault);
}

static const struct {
	const char *name;
	int least, most; // words after the folder
	action *run;
} actions[] = {
	{"get", 1, 1, get},
	{"put", 2, 3, put},
	{"folder", 2, 3, folder},
	{"link", 2, 2, make_link},
	{"names", 1, INT_MAX, names},
	{"files", 1, INT_MAX, files},
	{"remove", 1, INT_MAX, remove_all},
	{"attach", 2, 2, attach},
	{"bind", 2, 2, bind_folder},
};

static enum exit_code run(size_t which, int count, char **words) {
	cleanup_with(border_close) struct border border = {.fd = -1};
	struct fault fault;
	int r = border_open(words[0], &border, &fault);

	if (r == 0)
		r = actions[which].run(&border, count - 1, words + 1, &fault);
	if (r < 0)
		return fault_print(&fault, "tree");
	return fflush(stdout) ? CODE_FAILED : CODE_DONE;
}

enum exit_code verb_tree(int count, char **words) {
	for (size_t i = 0; count > 1 && i < ELEMENTS(actions); i++)
		if (!strcmp(words[0], actions[i].name) && count - 2 >= actions[i].least && count - 2 <= actions[i].most)
			return run(i, count - 1, words + 1);
	fputs("tree: usage: sledc tree " TREE_WORDS "\n", stderr);
	return CODE_USAGE;
}
