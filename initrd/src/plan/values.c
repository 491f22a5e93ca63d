// SPDX-License-Identifier: Apache-2.0
#include "plan/values.h"

#include <string.h>

#include "base/number.h"
#include "disk/partition_choose.h"
#include "disk/selector.h"
#include "disk/several.h"
#include "disk/stamp.h"
#include "image/statement.h"
#include "multicast/address.h"
#include "net/export.h"
#include "net/url.h"

int check_selector(const char *value, struct fault *fault) {
	struct selector selector = {0};
	int r = selector_parse(value, &selector, fault);
	selector_free(&selector);
	return r;
}

int check_partition(const char *value, struct fault *fault) { return partition_selector_check(value, fault); }

int check_disks(const char *value, struct fault *fault) { return several_check(value, fault); }

int check_keep(const char *value, struct fault *fault) {
	struct keep keep = {0};
	int r = keep_parse(value, &keep, fault);
	keep_free(&keep);
	return r;
}

int check_urls(const char *value, struct fault *fault) {
	struct urls urls = {0};
	int r = urls_parse(value, &urls, fault);
	urls_free(&urls);
	return r;
}

int check_url(const char *value, struct fault *fault) {
	struct url url;
	int r;

	if (strchr(value, ','))
		return fault_set(fault, CODE_USAGE, "\"%.200s\": must be one URL; write a comma in it as %%2C", value);
	r = url_parse(value, &url, fault);
	if (r == 0)
		url_free(&url);
	return r;
}

// 64 bytes are 86 digits and two "=" (RFC 4648, 4).
int check_signature(const char *value, struct fault *fault) {
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	if (strlen(value) != 88 || strspn(value, digits) != 86 || strcmp(value + 86, "==") != 0)
		return fault_set(fault, CODE_USAGE, "\"%s\" is not 64 bytes in base64", value);
	return 0;
}

int check_level(const char *value, struct fault *fault) {
	uint64_t n;
	if (number_parse(value, 19, &n) < 0 || n == 0)
		return fault_set(fault, CODE_USAGE, "\"%s\" is not a number from 1 to 19", value);
	return 0;
}

// A time that the hardware can count and a kernel can start in.
int check_watchdog(const char *value, struct fault *fault) {
	uint64_t n;
	if (number_parse(value, 3600, &n) < 0 || n < 10)
		return fault_set(fault, CODE_USAGE, "\"%s\" is not a number of seconds from 10 to 3600", value);
	return 0;
}

#define LOWER_OR_DIGIT "abcdefghijklmnopqrstuvwxyz0123456789"

int check_job(const char *value, struct fault *fault) {
	size_t size = strlen(value);
	if (size < 1 || size > 32 || strspn(value, LOWER_OR_DIGIT) != size)
		return fault_set(fault, CODE_USAGE, "\"%.80s\" is not the id of a job: want a-z 0-9, at most 32 bytes",
				 value);
	return 0;
}

int check_export(const char *value, struct fault *fault) {
	char host[EXPORT_HOST];
	return export_parse(value, host, fault);
}

// At most a week.
int check_seconds(const char *value, struct fault *fault) {
	uint64_t n;
	if (number_parse(value, 604800, &n) < 0 || n < 1)
		return fault_set(fault, CODE_USAGE, "\"%s\" is not a number of seconds from 1 to 604800", value);
	return 0;
}

// With "sled-" in front it is the name of a partition, which has 36 characters.
int check_data_name(const char *value, struct fault *fault) {
	size_t size = strlen(value);
	if (size < 1 || size > 31 || *value == '-' || strspn(value, LOWER_OR_DIGIT "-") != size)
		return fault_set(fault, CODE_USAGE,
				 "\"%.80s\" is not the name of a data disk: want a-z 0-9 -, first a "
				 "letter or digit, at most 31 bytes",
				 value);
	return 0;
}

int check_uuid(const char *value, struct fault *fault) {
	static const size_t hyphens[] = {8, 13, 18, 23};
	bool right = strlen(value) == 36 && strspn(value, "0123456789abcdef-") == 36;

	for (size_t i = 0, next = 0; right && i < 36; i++) {
		bool hyphen = next < 4 && i == hyphens[next];
		right = (value[i] == '-') == hyphen;
		next += hyphen;
	}
	return right ? 0 : fault_set(fault, CODE_USAGE, "\"%.80s\" is not a UUID in lower case", value);
}

int check_stamp(const char *value, struct fault *fault) {
	struct stamp stamp;
	return stamp_parse(value, &stamp, fault);
}

// A line of /etc/fstab is made of it.
int check_mount(const char *value, struct fault *fault) {
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-/" LOWER_OR_DIGIT;
	size_t size = strlen(value);
	bool right = *value == '/' && size > 1 && size <= 255 && value[size - 1] != '/' &&
		     strspn(value, allowed) == size;

	for (const char *slash = value; right && slash; slash = strchr(slash + 1, '/')) {
		size_t name = strcspn(slash + 1, "/");
		right = name > 0 && (name > 2 || strncmp(slash + 1, "..", name) != 0);
	}
	return right ? 0
		     : fault_set(fault, CODE_USAGE,
				 "\"%.80s\" is not an absolute path of A-Z a-z 0-9 . _ - /, "
				 "at most 255 bytes, without . and ..",
				 value);
}

int check_digest(const char *value, struct fault *fault) {
	return is_digest(value) ? 0
				: fault_set(fault, CODE_USAGE,
					    "\"%s\" is not \"sha256:\" with 64 lower-case hexadecimal digits", value);
}

int check_image_name(const char *value, struct fault *fault) {
	if (is_image_name(value))
		return 0;
	return fault_set(fault, CODE_USAGE,
			 "\"%s\" is not the name of an image: want a-z 0-9 . _ -, first a letter or digit, at most %u "
			 "bytes",
			 value, NAME_MAX_BYTES);
}

int check_statement(const char *value, struct fault *fault) {
	struct statement statement;
	return statement_parse(value, &statement, fault);
}

int check_number(const char *value, struct fault *fault) {
	uint64_t n;
	if (number_parse(value, NUMBER_MAX, &n) < 0)
		return fault_set(fault, CODE_USAGE, "\"%s\" is not a decimal number of at most 2^63-1", value);
	return 0;
}

int check_positive(const char *value, struct fault *fault) {
	int r = check_number(value, fault);
	if (r == 0 && !strcmp(value, "0"))
		return fault_set(fault, CODE_USAGE, "must be at least 1");
	return r;
}

// The lines of a file of authorized keys, without the last LF.
int check_keys(const char *value, struct fault *fault) {
	bool fresh = true; // at the start of a line

	for (const char *c = value; *c; c++) {
		if (*c == '\n' ? fresh : (unsigned char)*c < ' ' || *c == 0x7f)
			return fault_set(fault, CODE_USAGE, "byte 0x%02x: must be one key per line, joined by LF",
					 (unsigned char)*c);
		fresh = *c == '\n';
	}
	return fresh ? fault_set(fault, CODE_USAGE, "an empty line: must be one key per line, joined by LF") : 0;
}

int check_nodes(const char *value, struct fault *fault) {
	uint64_t n;
	if (number_parse(value, UINT16_MAX, &n) < 0 || n == 0)
		return fault_set(fault, CODE_USAGE, "\"%s\" is not a number of nodes from 1 to 65535", value);
	return 0;
}

int check_multicast(const char *value, struct fault *fault) {
	struct multicast_address address;
	return address_parse(value, &address, fault);
}

// Empty, or the labels of a DNS name. Linux takes 64 bytes.
int check_hostname(const char *value, struct fault *fault) {
	size_t label = 0, size = strlen(value);

	for (size_t i = 0; i < size; i++) {
		char c = value[i];
		bool end = i + 1 == size || value[i + 1] == '.';
		bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		if (c == '.' ? label == 0 || i + 1 == size : !alnum && (c != '-' || label == 0 || end))
			return fault_set(fault, CODE_USAGE, "\"%s\" is not a host name", value);
		label = c == '.' ? 0 : label + 1;
		if (label > 63 || size > 64)
			return fault_set(fault, CODE_USAGE, "\"%s\" has more than 64 bytes, or 63 in a label", value);
	}
	return 0;
}

int check_mac(const char *value, struct fault *fault) {
	bool right = strlen(value) == 17;
	for (size_t i = 0; right && i < 17; i++)
		right = i % 3 == 2 ? value[i] == ':' : strchr("0123456789abcdef", value[i]) != NULL;
	if (!right)
		return fault_set(fault, CODE_USAGE, "\"%s\" is not a MAC, lower case with colons (52:54:00:77:00:01)",
				 value);
	return 0;
}
