// SPDX-License-Identifier: Apache-2.0
#include "verbs/shelf.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "image/layout.h"

#define READS SECOND // between two readings of the folder

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

static void read_folder(struct shelf *shelf) {
	cleanup_dir DIR *all = opendir(shelf->folder);

	shelf->count = 0;
	for (const struct dirent *entry = all ? readdir(all) : NULL; entry && shelf->count < SHELF_MAX;
	     entry = readdir(all)) {
		uint8_t digest[HASH];
		if (!read_digest(dirfd(all), entry->d_name, digest))
			continue;
		memcpy(shelf->images[shelf->count].id, digest, SESSION_ID);
		snprintf(shelf->images[shelf->count++].name, sizeof(shelf->images[0].name), "%s", entry->d_name);
	}
}

static const char *find_name(const struct shelf *shelf, const uint8_t id[SESSION_ID]) {
	for (uint32_t i = 0; i < shelf->count; i++)
		if (!memcmp(shelf->images[i].id, id, SESSION_ID))
			return shelf->images[i].name;
	return NULL;
}

bool shelf_find(struct shelf *shelf, const uint8_t id[SESSION_ID], int64_t now, struct opened *ret) {
	const char *name = find_name(shelf, id);
	struct fault fault;
	char path[4096];

	if (!name && now >= shelf->next_read) {
		shelf->next_read = now + READS;
		read_folder(shelf);
		name = find_name(shelf, id);
	}
	if (!name)
		return false;
	snprintf(path, sizeof(path), "%s/%s", shelf->folder, name);
	*ret = (struct opened){0};
	if (opened_open_unchecked(path, NULL, ret, &fault) == 0 &&
	    !memcmp(ret->image.trailer.digest, id, SESSION_ID))
		return true;
	shelf->count = 0; // the folder has changed
	opened_close(ret);
	return false;
}
