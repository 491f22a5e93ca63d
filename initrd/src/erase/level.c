// SPDX-License-Identifier: Apache-2.0
#include "erase/level.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

static const char *const levels[] = {
	[ERASE_SIGNATURES] = "signatures",
	[ERASE_EMPTY] = "empty",
	[ERASE_CLEAR] = "clear",
	[ERASE_PURGE] = "purge",
};

int erase_level_parse(const char *word, enum erase_level *ret) {
	for (unsigned i = 0; i < ELEMENTS(levels); i++)
		if (!strcmp(word, levels[i])) {
			*ret = (enum erase_level)i;
			return 0;
		}
	return -EINVAL;
}

const char *erase_level_name(enum erase_level level) { return levels[level]; }
