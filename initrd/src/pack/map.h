// SPDX-License-Identifier: Apache-2.0
// Parses the map that partclone -D writes, in the format of ddrescue. Lines that start with # are comments; the first
// other line is a position, each later one "position size status", hexadecimal, + for used and ? for free. Pure
// functions.
#pragma once

#include "base/extents.h"
#include "base/fault.h"

struct map {
	uint64_t limit; // bytes of the partition
	uint64_t end;	// end of the last line's range: at the end, the size of the filesystem
	unsigned line;
	bool begun;
};

// Parses one line, without its LF. Adds used ranges, plus `start`, to `used`. Returns an error of code 1 if
// partclone does not write such a line; of code 3 if the filesystem is larger than its partition.
int map_line(struct map *map, const char *line, uint64_t start, struct extents *used, struct fault *fault);
