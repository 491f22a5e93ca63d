// SPDX-License-Identifier: Apache-2.0
#include "image/statement.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define VERSION "image 2"

bool is_image_name(const char *value) {
	size_t size = strlen(value);

	return size > 0 && size <= NAME_MAX_BYTES && !strchr("._-", *value) &&
	       strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789._-") == size;
}

bool is_digest(const char *value) {
	const char *hex = value + strlen("sha256:");

	return !strncmp(value, "sha256:", strlen("sha256:")) && strlen(hex) == 64 &&
	       strspn(hex, "0123456789abcdef") == 64;
}

static unsigned two_digits(const char *at) { return (unsigned)(at[0] - '0') * 10 + (unsigned)(at[1] - '0'); }

static unsigned days_of(unsigned year, unsigned month) {
	static const unsigned days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap);
}

bool is_date(const char *value) {
	static const char form[] = "0000-00-00T00:00:00Z";
	unsigned year, month, day;

	if (strlen(value) != DATE_BYTES)
		return false;
	for (size_t i = 0; i < DATE_BYTES; i++)
		if (form[i] == '0' ? value[i] < '0' || value[i] > '9' : value[i] != form[i])
			return false;
	year = two_digits(value) * 100 + two_digits(value + 2);
	month = two_digits(value + 5);
	day = two_digits(value + 8);
	return year >= 2000 && month >= 1 && month <= 12 && day >= 1 && day <= days_of(year, month) &&
	       two_digits(value + 11) < 24 && two_digits(value + 14) < 60 && two_digits(value + 17) < 60;
}

// Takes " KEY=VALUE". False: something else stands there, or the value is longer than `max` bytes.
static bool take(const char **at, const char *key, char *ret, size_t max) {
	size_t size = strlen(key), value;

	if (**at != ' ' || strncmp(*at + 1, key, size) != 0 || (*at)[1 + size] != '=')
		return false;
	*at += size + 2;
	value = strcspn(*at, " ");
	if (value > max)
		return false;
	memcpy(ret, *at, value);
	ret[value] = 0;
	*at += value;
	return true;
}

static int refuse(const char *text, struct fault *fault) {
	return fault_set(fault, CODE_USAGE,
			 "\"%.400s\" is not a statement of an image: want " VERSION
			 " name=NAME line=LINE signed=YYYY-MM-DDTHH:MM:SSZ digest=sha256:HEX",
			 text);
}

int statement_parse(const char *text, struct statement *ret, struct fault *fault) {
	struct statement s = {0};
	const char *at = text + strlen(VERSION);

	if (strncmp(text, VERSION, strlen(VERSION)) != 0 || !take(&at, "name", s.name, NAME_MAX_BYTES) ||
	    !take(&at, "line", s.line, NAME_MAX_BYTES) || !take(&at, "signed", s.date, DATE_BYTES) ||
	    !take(&at, "digest", s.digest, DIGEST_BYTES) || *at)
		return refuse(text, fault);
	if (!is_image_name(s.name) || !is_image_name(s.line) || !is_date(s.date) || !is_digest(s.digest))
		return refuse(text, fault);
	*ret = s;
	return 0;
}

void line_of_name(const char *name, char ret[NAME_MAX_BYTES + 1]) {
	size_t size = strlen(name), at = size;

	while (at > 0 && strchr("0123456789.", name[at - 1]))
		at--;
	while (name[at] == '.')
		at++;
	if (at < size && at > 2 && name[at - 2] == '-' && name[at - 1] == 'v')
		size = at - 2;
	snprintf(ret, NAME_MAX_BYTES + 1, "%.*s", (int)size, name);
}

void statement_write(const struct statement *statement, char ret[STATEMENT_MAX]) {
	snprintf(ret, STATEMENT_MAX, VERSION " name=%s line=%s signed=%s digest=%s", statement->name, statement->line,
		 statement->date, statement->digest);
}
