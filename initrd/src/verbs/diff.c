// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/human.h"
#include "source/image_file.h"
#include "verbs/verbs.h"

const struct operand_rule diff_rules[] = {
	{"old", true, "the older image: a file or a URL", NULL, NULL},
	{"new", true, "the newer image: a file or a URL", NULL, NULL},
	{"json", false, "print one line of JSON (default no)", "yes|no", NULL},
	{0},
};

enum kind { SHARED, CHANGED, ADDED, REMOVED, KINDS };

static const char *const names[KINDS] = {"shared", "changed", "added", "removed"};

// `file`: bytes of the frames in the new image; for removed chunks, in the old one.
struct sum {
	uint64_t chunks, used, file;
};

static bool same(const struct chunk *a, const struct chunk *b) {
	return memcmp(a->hash, b->hash, HASH) == 0 && memcmp(a->used, b->used, sizeof(a->used)) == 0;
}

static void add(struct sum *sum, const struct index *index, const struct chunk *chunk) {
	sum->chunks++;
	sum->used += chunk_used(index, chunk);
	sum->file += chunk->frame;
}

static void compare(const struct index *old, const struct index *new, struct sum sums[KINDS]) {
	uint32_t i = 0, j = 0;

	while (i < old->chunk_count || j < new->chunk_count) {
		const struct chunk *a = i < old->chunk_count ? &old->chunks[i] : NULL,
				   *b = j < new->chunk_count ? &new->chunks[j] : NULL;
		if (!b || (a && a->offset < b->offset)) {
			add(&sums[REMOVED], old, a);
			i++;
		} else if (!a || b->offset < a->offset) {
			add(&sums[ADDED], new, b);
			j++;
		} else {
			add(&sums[same(a, b) ? SHARED : CHANGED], new, b);
			i++;
			j++;
		}
	}
}

static void print_human(const struct image_file *old, const struct image_file *new, const struct sum sums[KINDS]) {
	uint64_t fetch = sums[CHANGED].file + sums[ADDED].file, all = fetch + sums[SHARED].file;
	char a[32], b[32];

	printf("old  %s  %s\nnew  %s  %s\n\n%-8s %9s %12s %12s\n", old->image.digest, image_file_name(old),
	       new->image.digest, image_file_name(new), "", "chunks", "used", "in the file");
	for (unsigned i = 0; i < KINDS; i++)
		printf("%-8s %9llu %12s %12s\n", names[i], (unsigned long long)sums[i].chunks,
		       human_bytes(sums[i].used, a), human_bytes(sums[i].file, b));
	if (old->image.index.bytes != new->image.index.bytes)
		printf("\ndisk     %s -> %s\n", human_bytes(old->image.index.bytes, a),
		       human_bytes(new->image.index.bytes, b));
	printf("\nfrom old to new: %s of %s (%.1f %%)\n", human_bytes(fetch, a), human_bytes(all, b),
	       all ? 100.0 * (double)fetch / (double)all : 0);
}

static void print_json(const struct image_file *old, const struct image_file *new, const struct sum sums[KINDS]) {
	printf("{\"old\": \"%s\", \"new\": \"%s\", \"old_bytes\": %llu, \"new_bytes\": %llu", old->image.digest,
	       new->image.digest, (unsigned long long)old->image.index.bytes,
	       (unsigned long long)new->image.index.bytes);
	for (unsigned i = 0; i < KINDS; i++)
		printf(", \"%s\": {\"chunks\": %llu, \"used_bytes\": %llu, \"frame_bytes\": %llu}", names[i],
		       (unsigned long long)sums[i].chunks, (unsigned long long)sums[i].used,
		       (unsigned long long)sums[i].file);
	puts("}");
}

enum exit_code verb_diff(const struct operands *operands) {
	cleanup_with(image_file_close) struct image_file old = {0};
	cleanup_with(image_file_close) struct image_file new = {0};
	struct sum sums[KINDS] = {0};
	struct fault fault;
	int r = image_file_open(operands_get(operands, "old"), NULL, &old, &fault);

	if (r == 0)
		r = image_file_open(operands_get(operands, "new"), NULL, &new, &fault);
	if (r < 0)
		return fault_print(&fault, "diff");
	compare(&old.image.index, &new.image.index, sums);
	if (!strcmp(operands_get_or(operands, "json", "no"), "yes"))
		print_json(&old, &new, sums);
	else
		print_human(&old, &new, sums);
	return CODE_DONE;
}
