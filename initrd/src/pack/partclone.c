// SPDX-License-Identifier: Apache-2.0
#include "pack/partclone.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/child.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "pack/map.h"
#include "pack/partition_path.h"

#define MEMORY (UINT64_C(4) << 30)  // its bitmaps: one bit for each block
#define MAP_MAX (UINT64_C(1) << 30) // bytes, more than twenty million ranges
#define TIMEOUT (3600 * SECOND)	    // enough for a disk of many TiB of which every group is read

// libf2fs opens its device for writing, though it is only read. It gets a device that cannot be written to.
static bool opens_for_writing(const char *name) { return strcmp(name, "f2fs") == 0; }

static int run_partclone(const char *name, int device, int map, struct fault *fault) {
	char tool[32];
	// -f 0: else partclone waits at its end for its progress thread, which sleeps for two seconds.
	const char *const words[] = {tool,	  "-D", "-q",	     "-f", "0", "-L",
				     "/dev/null", "-s", JAIL_FILE_0, "-O", "-", NULL};
	const struct jail jail = {.memory = MEMORY,
				  .output = MAP_MAX,
				  .seconds = TIMEOUT / SECOND,
				  .file_count = 1,
				  .files = {{device, opens_for_writing(name)}}};

	snprintf(tool, sizeof(tool), "partclone.%s", name);
	return child_run_jailed(words, -1, map, &jail, clock_now() + TIMEOUT, fault);
}

static int run_on(const char *name, const char *path, int map, struct fault *fault) {
	cleanup_close int device = open(path, O_RDONLY | O_CLOEXEC); // without O_DIRECT

	return device < 0 ? fault_errno(fault, CODE_FAILED, errno, "%s", path)
			  : run_partclone(name, device, map, fault);
}

static int read_map(int fd, const struct partition *partition, struct map *map, struct extents *used,
		    struct fault *fault) {
	cleanup_free char *line = NULL;
	cleanup_file FILE *file = NULL;
	size_t room = 0;
	int r = 0;

	if (lseek(fd, 0, SEEK_SET) < 0 || !(file = fdopen(dup(fd), "r")))
		return fault_errno(fault, CODE_FAILED, errno, "partclone's map");
	while (r == 0 && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = 0;
		r = map_line(map, line, partition->start, used, fault);
	}
	if (r == 0 && map->end == 0)
		r = fault_set(fault, CODE_FAILED, "partclone's map is empty");
	return r;
}

// Whether the message of partclone means that the filesystem is not clean.
static bool is_unclean(const char *text) {
	static const char *const words[] = {"not cleanly", "valid state", "with errors", "dirty",
					    "hibernat",	   "ournal",	  "unclean"};

	for (size_t i = 0; i < ELEMENTS(words); i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

int partclone_read(const struct reader *reader, const struct partition *partition, const char *name, const char *folder,
		   struct extents *used, uint64_t *ret_bytes, struct fault *fault) {
	cleanup_with(partition_path_close) struct partition_path opened = {.fd = -1};
	cleanup_close int fd = memfd_create("map", MFD_CLOEXEC);
	struct map map = {.limit = partition->bytes};
	int r = fd < 0 ? fault_errno(fault, CODE_FAILED, errno, "partclone's map") : 0;

	if (r == 0)
		r = partition_path_open(reader, partition, folder, opens_for_writing(name), &opened, fault);
	if (r == 0)
		r = run_on(name, opened.path, fd, fault);
	if (r < 0 && is_unclean(fault->text))
		r = fault_set(fault, CODE_UNSUPPORTED,
			      "partclone.%s: it was not unmounted cleanly: mount and unmount it, or run its fsck",
			      name);
	if (r == 0)
		r = read_map(fd, partition, &map, used, fault);
	if (r == 0)
		*ret_bytes = map.end;
	return r;
}
