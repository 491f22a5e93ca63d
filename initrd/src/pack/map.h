// SPDX-License-Identifier: Apache-2.0
// The map that partclone -D writes: text as of ddrescue. Lines that start with # are comments; the first other one says
// a position, each later one "position size status", hexadecimal, + for used and ? for free. Pure functions.
#pragma once

#include "base/extents.h"
#include "base/fault.h"

struct map {
	uint64_t limit; // bytes of the partition
	uint64_t end;	// where the map has got to: the filesystem's size, after the last line
	unsigned line;
	bool begun;
};

// One line, without its LF. Used ranges are added to `used`, moved by `start`. Code 1: not what partclone writes; 3: a
// filesystem that its partition has no room for.
int map_line(struct map *map, const char *line, uint64_t start, struct extents *used, struct fault *fault);
