// SPDX-License-Identifier: Apache-2.0
#include "sender/image_folder.h"

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

static void read_folder(struct image_folder *folder) {
	cleanup_dir DIR *all = opendir(folder->path);

	folder->count = 0;
	for (const struct dirent *entry = all ? readdir(all) : NULL; entry && folder->count < IMAGES_MAX;
	     entry = readdir(all)) {
		uint8_t digest[HASH];
		if (!read_digest(dirfd(all), entry->d_name, digest))
			continue;
		memcpy(folder->images[folder->count].id, digest, SESSION_ID);
		snprintf(folder->images[folder->count++].name, sizeof(folder->images[0].name), "%s", entry->d_name);
	}
}

static const char *find_name(const struct image_folder *folder, const uint8_t id[SESSION_ID]) {
	for (uint32_t i = 0; i < folder->count; i++)
		if (!memcmp(folder->images[i].id, id, SESSION_ID))
			return folder->images[i].name;
	return NULL;
}

bool image_folder_find(struct image_folder *folder, const uint8_t id[SESSION_ID], int64_t now, struct image_file *ret) {
	const char *name = find_name(folder, id);
	struct fault fault;
	char path[4096];

	if (!name && now >= folder->next_read) {
		folder->next_read = now + READS;
		read_folder(folder);
		name = find_name(folder, id);
	}
	if (!name)
		return false;
	snprintf(path, sizeof(path), "%s/%s", folder->path, name);
	*ret = (struct image_file){0};
	if (image_file_open(path, NULL, ret, &fault) == 0 && !memcmp(ret->image.trailer.digest, id, SESSION_ID))
		return true;
	folder->count = 0; // the folder has changed
	image_file_close(ret);
	return false;
}
