// SPDX-License-Identifier: Apache-2.0
#include "verbs/shelf.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "image/layout.h"

// From the end of the file: the seek table, and the trailer in front of it. The index is checked when it is opened.
static bool read_digest(int folder, const char *name, uint8_t ret[HASH]) {
	cleanup_close int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	uint8_t footer[SEEK_FOOTER], frame[SKIPPABLE + TRAILER];
	struct trailer trailer;
	struct fault fault;
	struct stat state;
	uint64_t table;

	if (fd < 0 || fstat(fd, &state) < 0 || !S_ISREG(state.st_mode) ||
	    pread(fd, footer, sizeof(footer), state.st_size - (off_t)sizeof(footer)) != sizeof(footer))
		return false;
	table = seek_table_size(footer);
	if (table == 0 || table > (uint64_t)state.st_size - sizeof(frame) ||
	    pread(fd, frame, sizeof(frame), state.st_size - (off_t)(table + sizeof(frame))) != sizeof(frame) ||
	    trailer_parse(frame, &trailer, &fault) < 0)
		return false;
	memcpy(ret, trailer.digest, HASH);
	return true;
}

bool shelf_find(const char *folder, const uint8_t id[SESSION_ID], struct opened *ret) {
	cleanup_dir DIR *all = opendir(folder);
	bool found = false;

	for (const struct dirent *entry = all ? readdir(all) : NULL; entry && !found; entry = readdir(all)) {
		uint8_t digest[HASH];
		struct fault fault;
		char path[4096];
		if (!read_digest(dirfd(all), entry->d_name, digest) || memcmp(digest, id, SESSION_ID) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		*ret = (struct opened){0};
		found = opened_open_unchecked(path, NULL, ret, &fault) == 0;
		if (!found) {
			fprintf(stderr, "send: %s\n", fault.text);
			opened_close(ret);
		}
	}
	return found;
}
