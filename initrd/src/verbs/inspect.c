// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/human.h"
#include "source/image_file.h"
#include "verbs/verbs.h"

const struct operand_rule inspect_rules[] = {
	{"in", false, "image file", NULL, NULL},
	{"image", false, "instead: its URL, or several joined by ,", NULL, check_urls},
	{"json", false, "print one line of JSON (default no)", "yes|no", NULL},
	{0},
};

static unsigned percent(uint64_t part, uint64_t whole) {
	return whole ? (unsigned)(100.0 * (double)part / (double)whole + 0.5) : 0;
}

static void print_partitions(const struct index *index) {
	char start[32], bytes[32], used[32];

	if (index->partition_count == 0)
		return;
	printf("\n  %3s  %-16s %12s %12s %12s %6s\n", "#", "content", "start", "size", "used", "");
	for (uint32_t i = 0; i < index->partition_count; i++) {
		const struct index_partition *p = &index->partitions[i];
		printf("  %3u  %-16s %12s %12s %12s %4u %%\n", i + 1, p->content, human_bytes(p->start, start),
		       human_bytes(p->bytes, bytes), human_bytes(p->used, used), percent(p->used, p->bytes));
	}
}

static void print_human(const struct image_file *o) {
	const struct index *index = &o->image.index;
	char bytes[32], used[32], file[32];

	printf("image       %s\ndigest      %s\n", image_file_name(o), o->image.digest);
	printf("%s%s (%llu bytes, sectors of %u)\n", index->is_partition ? "partition   " : "disk        ",
	       human_bytes(index->bytes, bytes), (unsigned long long)index->bytes, index->sector);
	printf("used        %s, %u %% of it, in %u chunks\n", human_bytes(index->used, used),
	       percent(index->used, index->bytes), index->chunk_count);
	printf("file        %s, %u %% of what is used\n", human_bytes(o->file_bytes, file),
	       percent(o->file_bytes, index->used));
	print_partitions(index);
}

static void print_json(const struct image_file *o) {
	const struct index *index = &o->image.index;

	printf("{\"name\": ");
	json_string(stdout, image_file_name(o));
	printf(", \"digest\": \"%s\", \"of\": \"%s\", \"bytes\": %llu, \"sector\": %u, \"used_bytes\": %llu, "
	       "\"file_bytes\": %llu, \"chunks\": %u, \"partitions\": [",
	       o->image.digest, index->is_partition ? "partition" : "disk", (unsigned long long)index->bytes,
	       index->sector, (unsigned long long)index->used, (unsigned long long)o->file_bytes, index->chunk_count);
	for (uint32_t i = 0; i < index->partition_count; i++) {
		const struct index_partition *p = &index->partitions[i];
		printf("%s{\"content\": \"%s\", \"start\": %llu, \"bytes\": %llu, \"used_bytes\": %llu}", i ? ", " : "",
		       p->content, (unsigned long long)p->start, (unsigned long long)p->bytes,
		       (unsigned long long)p->used);
	}
	puts("]}");
}

enum exit_code verb_inspect(const struct operands *operands) {
	cleanup_with(image_file_close) struct image_file o = {0};
	const char *place = NULL;
	struct fault fault;
	int r = image_file_place(operands, &place, &fault);

	if (r == 0)
		r = image_file_open(place, NULL, &o, &fault);
	if (r < 0)
		return fault_print(&fault, "inspect");
	if (!strcmp(operands_get_or(operands, "json", "no"), "yes"))
		print_json(&o);
	else
		print_human(&o);
	return CODE_DONE;
}
