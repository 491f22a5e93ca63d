// SPDX-License-Identifier: Apache-2.0
#include "pack/map.h"

#include <stdlib.h>
#include <string.h>

static const char *hex(const char *p, uint64_t *ret) {
	unsigned digits = 0;
	uint64_t n = 0;

	p += strspn(p, " \t");
	if (p[0] != '0' || p[1] != 'x')
		return NULL;
	for (p += 2; digits < 16; digits++, p++) {
		char c = *p;
		if (c >= '0' && c <= '9')
			n = n << 4 | (uint64_t)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			n = n << 4 | (uint64_t)((c | 0x20) - 'a' + 10);
		else
			break;
	}
	*ret = n;
	return digits > 0 ? p : NULL;
}

static int refuse(const struct map *map, const char *why, struct fault *fault) {
	return fault_set(fault, CODE_FAILED, "partclone's map, line %u: %s", map->line, why);
}

int map_line(struct map *map, const char *line, uint64_t start, struct extents *used, struct fault *fault) {
	uint64_t at, size = 0;
	const char *p;

	map->line++;
	if (line[0] == '#' || line[strspn(line, " \t")] == 0)
		return 0;
	if (!(p = hex(line, &at)))
		return refuse(map, "no number", fault);
	if (!map->begun) {
		map->begun = true;
		return 0;
	}
	if (!(p = hex(p, &size)))
		return refuse(map, "no size", fault);
	p += strspn(p, " \t");
	if ((p[0] != '+' && p[0] != '?') || p[1] != 0)
		return refuse(map, "the status is neither + nor ?", fault);
	if (at != map->end)
		return refuse(map, "it does not start where the line before it ends", fault);
	if (size > map->limit - map->end)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "the filesystem is larger than its partition: it was cut off");
	map->end += size;
	if (p[0] == '+')
		extents_add(used, start + at, start + at + size);
	return 0;
}
