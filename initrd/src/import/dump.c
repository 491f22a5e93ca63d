// SPDX-License-Identifier: Apache-2.0
#include "import/dump.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"

#define MEBIBYTE ((uint64_t)1 << 20)
#define LBA_MAX (UINT64_C(1) << 50) // more than any disk has
#define GPT_COPY_BYTES (16384u)	    // of its partition entries

static const char *const swap_types[] = {"82", "S", "swap", "0657FD6D-A4AB-43C4-84E5-0933C84B4F4F", NULL};
static const char *const extended_types[] = {"5", "f", "85", NULL};

// The number behind `key` on that line; false: there is none.
static bool value(const char *line, size_t size, const char *key, uint64_t *ret) {
	const char *at = memmem(line, size, key, strlen(key));
	uint64_t n = 0;
	bool digits = false;

	if (!at)
		return false;
	for (at += strlen(key); at < line + size && *at == ' '; at++)
		;
	for (; at < line + size && *at >= '0' && *at <= '9' && n < LBA_MAX; at++, digits = true)
		n = n * 10 + (uint64_t)(*at - '0');
	*ret = n;
	return digits;
}

static bool begins(const char *line, size_t size, const char *word) {
	return size >= strlen(word) && !memcmp(line, word, strlen(word));
}

// Digits at the end of the device's name.
static unsigned number_of(const char *line, size_t size) {
	const char *colon = memchr(line, ':', size), *end = colon ? colon : line, *from;

	while (end > line && end[-1] == ' ')
		end--;
	for (from = end; from > line && from[-1] >= '0' && from[-1] <= '9' && end - from < 4;)
		from--;
	return from < end ? (unsigned)strtoul(from, NULL, 10) : 0;
}

// Whether the line of a partition has that type: "type=82," or, in older versions, "Id=82,".
static bool has_type(const char *line, size_t size, const char *type) {
	const char *at = memmem(line, size, "type=", 5), *id = memmem(line, size, "Id=", 3);
	size_t n = strlen(type);

	if (!at && !id)
		return false;
	for (at = at ? at + 5 : id + 3; at < line + size && *at == ' '; at++)
		;
	return (size_t)(line + size - at) >= n && !strncasecmp(at, type, n) &&
	       (at + n == line + size || !isalnum((unsigned char)at[n]));
}

static bool has_any_type(const char *line, size_t size, const char *const *types) {
	for (; *types; types++)
		if (has_type(line, size, *types))
			return true;
	return false;
}

static int parse_partition(const char *line, size_t size, struct dump *dump, struct fault *fault) {
	struct dump_partition *partition = &dump->partitions[dump->partition_count];
	uint64_t start, count;

	if (!value(line, size, "start=", &start) || !value(line, size, "size=", &count) || number_of(line, size) == 0)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "its table (an sfdisk dump) has a line that describes no partition: %.*s",
				 (int)(size < 80 ? size : 80), line);
	if (start >= LBA_MAX || count >= LBA_MAX || dump->partition_count == DUMP_PARTITIONS_MAX)
		return fault_set(fault, CODE_UNSUPPORTED, "its table (an sfdisk dump) has an impossible partition");
	if (count == 0)
		return 0; // old versions write an unused one like this
	*partition = (struct dump_partition){.number = number_of(line, size),
					     .start = start * dump->sector,
					     .bytes = count * dump->sector,
					     .is_swap = has_any_type(line, size, swap_types),
					     .is_extended = has_any_type(line, size, extended_types)};
	dump->partition_count++;
	return 0;
}

static int parse_line(const char *line, size_t size, struct dump *dump, struct fault *fault) {
	uint64_t n;

	if (begins(line, size, "label: gpt"))
		dump->is_gpt = true;
	else if (begins(line, size, "last-lba:") && value(line, size, "last-lba:", &n))
		dump->last_usable = n;
	else if (begins(line, size, "sector-size:") && value(line, size, "sector-size:", &n)) {
		if (n != 512 && n != 4096)
			return fault_set(fault, CODE_UNSUPPORTED,
					 "its table (an sfdisk dump) has sectors of %llu bytes", (unsigned long long)n);
		dump->sector = (uint32_t)n;
	} else if (begins(line, size, "/dev/"))
		return parse_partition(line, size, dump, fault);
	return 0;
}

int dump_parse(const char *text, struct dump *ret, struct fault *fault) {
	int r = 0;

	*ret = (struct dump){.sector = 512};
	while (r == 0 && *text) {
		size_t size = strcspn(text, "\n");
		r = parse_line(text, size, ret, fault);
		text += size + (text[size] == '\n');
	}
	return r;
}

const struct dump_partition *dump_find(const struct dump *dump, unsigned number) {
	for (size_t i = 0; i < dump->partition_count; i++)
		if (dump->partitions[i].number == number)
			return &dump->partitions[i];
	return NULL;
}

uint64_t dump_disk_bytes(const struct dump *dump) {
	uint64_t end = 0, sector = dump->sector;

	for (size_t i = 0; i < dump->partition_count; i++)
		if (dump->partitions[i].start + dump->partitions[i].bytes > end)
			end = dump->partitions[i].start + dump->partitions[i].bytes;
	end = (end + MEBIBYTE - 1) / MEBIBYTE * MEBIBYTE;
	if (dump->is_gpt && dump->last_usable && dump->last_usable < LBA_MAX)
		return (dump->last_usable + 1) * sector + GPT_COPY_BYTES + sector;
	return dump->is_gpt ? end + MEBIBYTE : end;
}
