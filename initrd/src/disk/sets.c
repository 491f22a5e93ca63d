// SPDX-License-Identifier: Apache-2.0
#include "disk/sets.h"

#include <stdio.h>
#include <string.h>

#define ROOM (SETS_MAX - sizeof(",*")) // so that "*" always fits

static bool is_plain(char c) {
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' && c <= '9') || (c && strchr("-._", c));
}

static bool has(const char *sets, const char *one) {
	size_t n = strlen(one);

	for (const char *at = sets; (at = strstr(at, one)); at += n)
		if ((at == sets || at[-1] == ',') && (at[n] == ',' || !at[n]))
			return true;
	return false;
}

void sets_add(char sets[SETS_MAX], const char *type, const char *id) {
	char one[SETS_MAX];
	size_t n = (size_t)snprintf(one, sizeof(one) / 2, "%s:", type), used = strlen(sets);

	for (; *id && n + 1 < sizeof(one); id++)
		if (is_plain(*id))
			one[n++] = *id;
	one[n] = 0;
	if (one[n - 1] == ':')
		snprintf(one + n, sizeof(one) - n, "*");
	if (used + 1 + strlen(one) > ROOM)
		snprintf(one, sizeof(one), "*");
	if (!has(sets, one) && !has(sets, "*"))
		snprintf(sets + used, SETS_MAX - used, "%s%s", used ? "," : "", one);
}

static bool is_same(const char *a, size_t a_size, const char *b, size_t b_size) {
	const char *colon = memchr(a, ':', a_size);
	size_t type = colon ? (size_t)(colon - a) + 1 : 0;

	if (a_size == b_size && !memcmp(a, b, a_size))
		return true;
	if ((a_size == 1 && *a == '*') || (b_size == 1 && *b == '*'))
		return true;
	if (!type || b_size <= type || memcmp(a, b, type) != 0)
		return false;
	return (a_size == type + 1 && a[type] == '*') || (b_size == type + 1 && b[type] == '*');
}

bool sets_share(const char *a, const char *b, char *ret, size_t size) {
	for (const char *one = a; *one; one += strcspn(one, ",") + (one[strcspn(one, ",")] == ','))
		for (const char *two = b; *two; two += strcspn(two, ",") + (two[strcspn(two, ",")] == ','))
			if (is_same(one, strcspn(one, ","), two, strcspn(two, ","))) {
				snprintf(ret, size, "%.*s", (int)strcspn(one, ","), one);
				return true;
			}
	return false;
}
