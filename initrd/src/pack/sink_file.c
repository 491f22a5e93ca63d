// SPDX-License-Identifier: Apache-2.0
// A file without a name until it is complete, so that an incomplete one leaves nothing behind. If the filesystem does
// not support that: a temporary file beside it.
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "pack/sink.h"

struct sink_file {
	struct sink sink;
	int fd;
	char *path, *folder;
	char *temporary; // its name until it is complete; NULL: it has none
};

static int file_write(struct sink *sink, const void *data, size_t size, struct fault *fault) {
	struct sink_file *file = (struct sink_file *)sink;
	int r = file_write_fd(file->fd, data, size);

	return r < 0 ? fault_errno(fault, CODE_FAILED, r, "%s: write", file->path) : 0;
}

static char *temporary_name(const char *path) {
	char *name = NULL;
	return asprintf(&name, "%s.%d.part", path, (int)getpid()) < 0 ? NULL : name;
}

// Links the file to its name. An existing file can only be replaced by a rename.
static int give_name(struct sink_file *file) {
	char self[CHILD_PATH];

	if (!file->temporary) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", file->fd);
		if (linkat(AT_FDCWD, self, AT_FDCWD, file->path, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
		file->temporary = temporary_name(file->path);
		if (!file->temporary)
			return -ENOMEM;
		unlink(file->temporary);
		if (linkat(AT_FDCWD, self, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) < 0)
			return -errno;
	}
	if (rename(file->temporary, file->path) < 0)
		return -errno;
	free(steal_pointer(&file->temporary));
	return 0;
}

static int sync_folder(const char *folder) {
	cleanup_close int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

static int file_commit(struct sink *sink, struct fault *fault) {
	struct sink_file *file = (struct sink_file *)sink;
	int r = fsync(file->fd) < 0 ? -errno : 0;

	if (r == 0)
		r = give_name(file);
	if (r == 0)
		r = sync_folder(file->folder);
	return r < 0 ? fault_errno(fault, CODE_FAILED, r, "%s", file->path) : 0;
}

static void file_close(struct sink *sink) {
	struct sink_file *file = (struct sink_file *)sink;

	if (file->temporary)
		unlink(file->temporary);
	if (file->fd >= 0)
		close(file->fd);
	free(file->temporary);
	free(file->folder);
	free(file->path);
	free(file);
}

static int open_file(struct sink_file *file) {
	file->fd = open(file->folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	if (file->fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return file->fd < 0 ? -errno : 0;
	file->temporary = temporary_name(file->path);
	if (!file->temporary)
		return -ENOMEM;
	unlink(file->temporary);
	file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return file->fd < 0 ? -errno : 0;
}

static char *folder_of(const char *path) {
	cleanup_free char *copy = strdup(path);
	return copy ? strdup(dirname(copy)) : NULL;
}

int sink_open_file(const char *path, struct sink **ret, struct fault *fault) {
	static const struct sink_ops ops = {file_write, file_commit, file_close};
	struct sink_file *file = calloc(1, sizeof(*file));
	struct stat st;
	int r;

	if (!file)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "%s", path);
	*file = (struct sink_file){.sink = {.ops = &ops}, .fd = -1, .path = strdup(path), .folder = folder_of(path)};
	r = !file->path || !file->folder ? -ENOMEM : 0;
	if (r == 0 && stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		file_close(&file->sink);
		return fault_set(fault, CODE_FAILED, "%s is %s: name a file, which may exist", path,
				 S_ISDIR(st.st_mode) ? "a folder" : "not a regular file");
	}
	if (r == 0)
		r = open_file(file);
	if (r < 0) {
		file_close(&file->sink);
		return fault_errno(fault, CODE_FAILED, r, "%s", path);
	}
	*ret = &file->sink;
	return 0;
}
