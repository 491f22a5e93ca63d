// SPDX-License-Identifier: Apache-2.0
#include "boot/version.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// A part of a string.
struct piece {
	const char *at, *end;
};

static bool digit(struct piece p) { return p.at < p.end && isdigit((unsigned char)*p.at); }
static bool letter(struct piece p) { return p.at < p.end && isalpha((unsigned char)*p.at); }
static bool mark(struct piece p, char c) { return p.at < p.end && *p.at == c; }

static struct piece cut(struct piece *from, bool numeric) {
	struct piece ret = *from;

	while (numeric ? digit(*from) : letter(*from))
		from->at++;
	ret.end = from->at;
	while (numeric && mark(ret, '0'))
		ret.at++;
	return ret;
}

static int compare_pieces(struct piece a, struct piece b, bool numeric) {
	size_t x = (size_t)(a.end - a.at), y = (size_t)(b.end - b.at);
	int r = numeric && x != y ? 0 : memcmp(a.at, b.at, x < y ? x : y);
	return r ? r : (x > y) - (x < y);
}

// Segments of digits or letters; what separates them does not count, but "~" is older than the end.
static int compare_rpm(struct piece a, struct piece b) {
	while (a.at < a.end || b.at < b.end) {
		bool numeric;
		int r;
		while (a.at < a.end && !digit(a) && !letter(a) && !mark(a, '~'))
			a.at++;
		while (b.at < b.end && !digit(b) && !letter(b) && !mark(b, '~'))
			b.at++;
		if (mark(a, '~') || mark(b, '~')) {
			if (!mark(a, '~') || !mark(b, '~'))
				return mark(a, '~') ? -1 : 1;
			a.at++;
			b.at++;
			continue;
		}
		if (a.at == a.end || b.at == b.end)
			break;
		numeric = digit(a);
		if (numeric ? !digit(b) : !letter(b))
			return numeric ? 1 : -1;
		r = compare_pieces(cut(&a, numeric), cut(&b, numeric), numeric);
		if (r)
			return r;
	}
	return (a.at < a.end) - (b.at < b.end);
}

// Cuts off what stands behind the last "-"; nothing if there is none.
static struct piece cut_last(struct piece *from) {
	for (const char *c = from->end; c > from->at; c--)
		if (c[-1] == '-') {
			struct piece ret = {c, from->end};
			from->end = c - 1;
			return ret;
		}
	return (struct piece){from->end, from->end};
}

int version_compare_packages(const char *a, const char *b) {
	struct piece x = {a, a + strlen(a)}, y = {b, b + strlen(b)};
	struct piece x_release = cut_last(&x), y_release = cut_last(&y), x_version = cut_last(&x),
		     y_version = cut_last(&y);
	int r = compare_rpm(x, y);

	if (r == 0)
		r = compare_rpm(x_version, y_version);
	return r ? r : compare_rpm(x_release, y_release);
}

static bool counts(char c) { return isalnum((unsigned char)c) || (c && strchr("~-^.", c)); }

int version_compare(const char *a, const char *b) {
	struct piece x = {a ? a : "", NULL}, y = {b ? b : "", NULL};

	x.end = x.at + strlen(x.at);
	y.end = y.at + strlen(y.at);
	for (;;) {
		bool numeric;
		int r;
		while (x.at < x.end && !counts(*x.at))
			x.at++;
		while (y.at < y.end && !counts(*y.at))
			y.at++;
		for (const char *c = "~\n-^."; *c; c++) { // with such a mark it is older; "\n" stands for an end
			if (*c == '\n' && (x.at == x.end || y.at == y.end))
				return (x.at < x.end) - (y.at < y.end);
			if (mark(x, *c) != mark(y, *c))
				return mark(x, *c) ? -1 : 1;
			x.at += mark(x, *c);
			y.at += mark(y, *c);
		}
		numeric = digit(x) || digit(y);
		if (numeric && digit(x) != digit(y))
			return digit(x) ? 1 : -1;
		r = compare_pieces(cut(&x, numeric), cut(&y, numeric), numeric);
		if (r)
			return r;
	}
}
