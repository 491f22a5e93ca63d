// SPDX-License-Identifier: Apache-2.0
#include "disk/openers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "disk/sysfs.h"

bool is_same_file(const char *path, const struct stat *file) {
	struct stat st;
	return stat(path, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

static bool writes(const char *pid, const char *fd) {
	cleanup_free char *text = NULL;
	const char *flags;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.20s/fdinfo/%.20s", pid, fd);
	if (file_read(path, 65536, &text, NULL) < 0 || !(flags = strstr(text, "flags:")))
		return false;
	return (strtoul(flags + strlen("flags:"), NULL, 8) & O_ACCMODE) != O_RDONLY;
}

static bool has_open(const char *pid, const struct stat *file, bool readers) {
	cleanup_dir DIR *dir = NULL;
	struct dirent *entry;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%.20s/fd/%.20s", pid, entry->d_name);
		if (entry->d_name[0] != '.' && is_same_file(path, file) && (readers || writes(pid, entry->d_name)))
			return true;
	}
	return false;
}

bool openers_find(const struct stat *file, bool readers, char *ret, size_t size) {
	cleanup_dir DIR *dir = opendir("/proc");
	struct dirent *entry;
	char own[32], name[64];

	snprintf(own, sizeof(own), "%d", (int)getpid());
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || !strcmp(entry->d_name, own) ||
		    !has_open(entry->d_name, file, readers))
			continue;
		sysfs_text(name, sizeof(name), "/proc/%.20s/comm", entry->d_name);
		snprintf(ret, size, "%s (process %.20s)", name, entry->d_name);
		return true;
	}
	return false;
}

int openers_ask(int fd, bool readers) {
	// Who opens the file in this moment breaks the lease: the signal of that would end the process.
	void (*old)(int) = signal(SIGIO, SIG_IGN);
	int r = fcntl(fd, F_SETLEASE, readers ? F_WRLCK : F_RDLCK) < 0 ? -errno : 0;

	if (r == 0)
		(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	(void)signal(SIGIO, old);
	return r;
}
