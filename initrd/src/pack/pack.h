// SPDX-License-Identifier: Apache-2.0
// Makes an image file of a disk.
#pragma once

#include <sys/stat.h>

#include "base/progress.h"
#include "disk/reader.h"
#include "image/index.h"
#include "pack/sink.h"
#include "pack/usedmap.h"

struct pack_order {
	int level;	       // zstd
	uint32_t sector;       // bytes; 0: that of the device, or to be found from the disk's content
	const char *partition; // only this one (disk/partition_choose.h); NULL: the whole disk
	bool drop_rest;	       // what nothing describes is free
	const char *folder;    // for temporary files, if partitions are not available as devices
};

struct packed {
	char digest[8 + 2 * HASH];
	uint64_t bytes, used, file_bytes;
};

// What is known of a disk before anything is written: the map of its used bytes.
struct survey {
	struct reader reader;
	struct usedmap map;
	struct stat state; // before it was read
};

// `fd`: a raw disk, as a file or a block device; `name` is for people. It may take minutes. Free `ret` after a failure
// too; its map has the warnings. A partition that does not exist is an error of code 4.
int survey_disk(int fd, const char *name, const struct pack_order *order, struct survey *ret, struct fault *fault);
void survey_free(struct survey *survey); // for cleanup_with

// Two runs over the same disk make the same bytes. Returns an error of code 4 for a file that somebody has written
// to since the survey.
int pack_disk(const struct survey *survey, const struct pack_order *order, struct sink *sink, struct packed *ret,
	      struct progress *progress, struct fault *fault);
