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

int erase_level_check(enum erase_level level, enum erase_method method, struct fault *fault) {
	bool is_purge = method != METHOD_OVERWRITE && method != METHOD_ATA_SECURITY_ERASE;

	if (method == METHOD_AUTO || level == ERASE_CLEAR || (level == ERASE_PURGE && is_purge))
		return 0;
	return fault_set(fault, CODE_USAGE, "method=%s cannot reach level=%s; the method of that level is auto%s",
			 method_name(method), erase_level_name(level),
			 level == ERASE_PURGE ? ", or a command of the drive that reaches all of it" : "");
}

bool erase_level_is_command(enum erase_level level, enum erase_method method) {
	return level == ERASE_PURGE || (method != METHOD_AUTO && method != METHOD_OVERWRITE);
}
