// SPDX-License-Identifier: Apache-2.0
#include "base/number.h"

#include <errno.h>

int number_parse(const char *text, uint64_t max, uint64_t *ret) {
	uint64_t n = 0;

	if (!*text || (text[0] == '0' && text[1]))
		return -EINVAL;
	for (const char *c = text; *c; c++)
		if (*c < '0' || *c > '9')
			return -EINVAL;
	for (; *text; text++)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (uint64_t)(*text - '0'), &n))
			return -ERANGE;
	if (n > max)
		return -ERANGE;
	*ret = n;
	return 0;
}
