// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "disk/filesystem_bytes.h"
#include "disk/grow.h"
#include "disk/kept.h"
#include "verbs/verbs.h"

#define MEBIBYTE ((uint64_t)1 << 20)

const struct operand_rule grow_rules[] = {
	{"disk", true, "the disk (disk selector)", NULL, check_selector},
	{"keep", false, "disks that are never touched (disk selectors joined by ;)", NULL, check_keep},
	{"grow", false, "which partition grows with the table (default last)", "last|none", NULL},
	{0},
};

// What is known of the last partition, and why it does not grow, or not up to the disk's end.
struct judgement {
	struct kept kept;
	struct fault unknown; // code 0: `kept` is that of this disk
	const struct kept_partition *last;
	char why[256]; // empty: nothing is in its way
};

__attribute__((format(printf, 2, 3))) static uint64_t stay(struct judgement *j, const char *format, ...) {
	va_list words;

	va_start(words, format);
	vsnprintf(j->why, sizeof(j->why), format, words);
	va_end(words);
	return 0;
}

static uint64_t judge(void *context, uint64_t start, uint64_t end) {
	struct judgement *j = context;

	if (j->unknown.code)
		return stay(j, "%s", j->unknown.text);
	j->last = kept_find(&j->kept, start, end);
	if (!j->last)
		return stay(j, "the image does not describe what it holds");
	if (!strcmp(j->last->content, "swap"))
		return stay(j, "a swap has the size in its header");
	if (!content_can_grow(j->last->content))
		return stay(j, "it holds %s, of which something may be at its end", j->last->content);
	if (j->last->within)
		return stay(j, "the image keeps bytes behind its filesystem, from byte %" PRIu64 " on",
			    j->last->within);
	if (!j->last->behind)
		return UINT64_MAX;
	(void)stay(j, "the image keeps bytes behind it, from byte %" PRIu64 " on", j->last->behind);
	return j->last->behind;
}

// Lines for lib/configure.sh: "last N CONTENT" if a partition could be larger, "detail TEXT" for the report, "fixed" if
// nothing may grow in the installed system either.
static void print_grown(const struct judgement *j, const struct grown *grown, bool is_asked) {
	const char *content = j->last ? j->last->content : "unknown";
	uint64_t end = grown->bytes ? grown->start + grown->bytes : grown->end;
	bool is_bounded = j->why[0] && grown->room >= end + MEBIBYTE;

	if (is_asked && grown->last && grown->room >= grown->end + MEBIBYTE)
		printf("last %u %s\n", grown->last, content);
	if (grown->is_held)
		printf("detail the partition table stays as it is: the image keeps something else at the disk's end, "
		       "where the copy of its GPT belongs\n");
	if (grown->bytes)
		printf("partition %u has grown to %" PRIu64 " bytes\n", grown->last, grown->bytes);
	if (is_bounded && grown->bytes)
		printf("detail partition %u (%s) has grown to byte %" PRIu64 " only: %s\n", grown->last, content, end,
		       j->why);
	else if (is_bounded && !grown->is_held)
		printf("detail partition %u (%s) has not grown: %s\n", grown->last, content, j->why);
	if (!is_asked || j->unknown.code || grown->is_held || kept_forbids(&j->kept))
		printf("fixed\n");
}

enum exit_code verb_grow(const struct operands *operands) {
	const char *path = getenv("SLED_KEPT");
	bool last = !strcmp(operands_get_or(operands, "grow", "last"), "last");
	cleanup_with(device_close) struct device device = {.fd = -1};
	cleanup_with(text_free) struct text list = {0};
	struct judgement judgement = {0};
	struct grown grown = {0};
	struct fault fault;
	int r = device_open(operands_get(operands, "disk"), operands_get(operands, "keep"), &device, &list, &fault);

	if (r < 0)
		fputs(text_string(&list), stderr);
	else
		(void)kept_read(path ? path : KEPT_FILE, device.name, &judgement.kept, &judgement.unknown);
	if (r == 0)
		r = grow_disk(&device, last ? judge : NULL, &judgement, &grown, &fault);
	if (r < 0)
		return fault_print(&fault, "grow");
	print_grown(&judgement, &grown, last);
	return CODE_DONE;
}
