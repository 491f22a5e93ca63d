// SPDX-License-Identifier: Apache-2.0
// The format: lib/format_text/layout.h and lib/label/label.h of LVM2.
#include "disk/lvm.h"

#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"

#define SECTORS 4u		     // the label is in one of them
#define HEADER 512u		     // of a metadata area
#define AREAS_MAX 16u		     // of each kind
#define TEXT_MAX ((uint64_t)4 << 20) // of 1,000 logical volumes: 1 MB

static bool read_at(const struct reader *reader, void *data, size_t size, uint64_t offset) {
	struct fault fault;
	return reader_read(reader, data, size, offset, &fault) == 0;
}

// The first metadata area behind the list of data areas; each list ends with zeros. 0: there is none.
static uint64_t find_area(const uint8_t sector[HEADER]) {
	size_t at = get_le32(sector + 20);
	unsigned lists = 0;

	if (at > HEADER - 40)
		return 0;
	for (at += 40; at + 16 <= HEADER; at += 16) { // behind the UUID and the size
		if (lists == 1)
			return get_le64(sector + at);
		lists += get_le64(sector + at) == 0;
	}
	return 0;
}

static bool find_label(const struct reader *reader, uint64_t start, uint64_t bytes, uint8_t ret[HEADER]) {
	for (unsigned i = 0; i < SECTORS && (i + 1) * HEADER <= bytes; i++)
		if (read_at(reader, ret, HEADER, start + (uint64_t)i * HEADER) && !memcmp(ret, "LABELONE", 8) &&
		    !memcmp(ret + 24, "LVM2 001", 8))
			return true;
	return false;
}

// The text is in a ring behind the header. Returns true with an empty one if the volume is in no group.
static bool read_text(const struct reader *reader, uint64_t area, const uint8_t header[HEADER], char **ret) {
	uint64_t size = get_le64(header + 32), offset = get_le64(header + 40), length = get_le64(header + 48);
	cleanup_free char *text = NULL;
	uint64_t first;

	if (offset == 0) {
		*ret = calloc(1, 1);
		return *ret;
	}
	if (get_le32(header + 60) & 1) // one that is not to be believed
		return false;
	if (offset < HEADER || offset >= size || length == 0 || length > TEXT_MAX || length > size - HEADER)
		return false;
	text = calloc(1, length + 1);
	first = length < size - offset ? length : size - offset;
	if (!text || !read_at(reader, text, first, area + offset) ||
	    (first < length && !read_at(reader, text + first, length - first, area + HEADER)))
		return false;
	*ret = text;
	text = NULL;
	return true;
}

bool lvm_text(const struct reader *reader, uint64_t start, uint64_t bytes, char **ret) {
	static const char magic[] = " LVM2 x[5A%r0N*>";
	uint8_t sector[HEADER];
	uint64_t area;

	*ret = NULL;
	if (!find_label(reader, start, bytes, sector) || (area = find_area(sector)) == 0 || area > bytes ||
	    bytes - area < HEADER || !read_at(reader, sector, HEADER, start + area))
		return false;
	if (memcmp(sector + 4, magic, 16) != 0 || get_le64(sector + 32) > bytes - area)
		return false;
	return read_text(reader, start + area, sector, ret);
}

bool lvm_read(const struct reader *reader, uint64_t start, uint64_t bytes, struct lvm_group *ret) {
	cleanup_free char *text = NULL;

	*ret = (struct lvm_group){0};
	return lvm_text(reader, start, bytes, &text) && (!*text || lvm_parse(text, strlen(text), ret));
}

struct words {
	const char *at, *end;
	unsigned depth;
};

// The next name, quoted text (with its first quote) or brace. Empty: the end. A quoted text may hold anything.
static size_t next_word(struct words *words, const char **ret) {
	const char *start;

	while (words->at < words->end && strchr(" \t\r\n=,[]", *words->at))
		if (*words->at++ == 0)
			return 0;
	start = words->at;
	if (start < words->end && *start == '"') {
		for (words->at++; words->at < words->end && *words->at != '"'; words->at++)
			words->at += *words->at == '\\' && words->at + 1 < words->end;
		words->at += words->at < words->end;
		*ret = start;
		return (size_t)((words->at < words->end ? words->at : words->end) - start);
	}
	if (start < words->end && strchr("{}", *start))
		words->at++;
	else
		while (words->at < words->end && !strchr(" \t\r\n=,[]{}\"", *words->at))
			words->at++;
	*ret = start;
	return (size_t)(words->at - start);
}

static bool is_word(const char *word, size_t size, const char *wanted) {
	return size == strlen(wanted) && !memcmp(word, wanted, size);
}

static bool is_id(const char *word, size_t size) {
	if (size < 3 || size > LVM_ID || word[0] != '"' || word[size - 1] != '"')
		return false;
	for (size_t i = 1; i + 1 < size; i++)
		if (!((word[i] | 0x20) >= 'a' && (word[i] | 0x20) <= 'z') && !(word[i] >= '0' && word[i] <= '9') &&
		    word[i] != '-')
			return false;
	return true;
}

bool lvm_parse(const char *text, size_t size, struct lvm_group *ret) {
	struct words words = {text, text + size, 0};
	bool in_volumes = false, is_value = false;
	const char *word, *section = "";
	size_t n, section_size = 0;

	*ret = (struct lvm_group){0};
	while ((n = next_word(&words, &word)) > 0) {
		if (*word == '{') {
			in_volumes = words.depth == 1 ? is_word(section, section_size, "physical_volumes") : in_volumes;
			ret->volumes += words.depth++ == 2 && in_volumes;
		} else if (*word == '}') {
			if (words.depth == 0 || --words.depth == 0)
				break;
		} else if (is_value && words.depth == 1 && !ret->id[0] && is_id(word, n)) {
			memcpy(ret->id, word + 1, n - 2);
		}
		is_value = is_word(word, n, "id");
		section = word;
		section_size = n;
	}
	return ret->id[0];
}
