// SPDX-License-Identifier: Apache-2.0
// An image file against its own index, or a disk against an image's index.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/human.h"
#include "disk/open_read.h"
#include "image/bitmap.h"
#include "source/image_file.h"
#include "source/prove.h"
#include "verbs/verbs.h"
#include "write/compare.h"

#define RANGES_MAX 10u // shown

const struct operand_rule verify_rules[] = {
	{"in", false, "image file", NULL, NULL},
	{"image", false, "instead: its URL, or several joined by ,", NULL, check_urls},
	{"digest", false, "digest that the image must have", NULL, check_digest},
	{"disk", false, "disk to compare with the image (disk selector); it is only read", NULL, check_selector},
	{"file", false, "raw file to compare with the image", NULL, NULL},
	{"partition", false, "only this partition: NUMBER, part-label:NAME or part-uuid:UUID", NULL, check_partition},
	{0},
};

static int verify_file(struct image_file *o, struct progress *progress, struct fault *fault) {
	int r = prove_file(o->source, &o->image, progress, fault);

	if (r == 0)
		printf("verify: %s is correct: %u chunks, %s\n", image_file_name(o), o->image.index.chunk_count,
		       o->image.digest);
	return r;
}

// Prints adjacent chunks as one range.
static size_t print_ranges(const struct index *index, const uint8_t *differ) {
	size_t count = 0;
	char size[32];

	for (uint32_t i = 0, next; i < index->chunk_count; i = next) {
		next = i + 1;
		if (!bitmap_has(differ, i))
			continue;
		while (next < index->chunk_count && bitmap_has(differ, next) &&
		       index->chunks[next].offset == index->chunks[next - 1].offset + CHUNK)
			next++;
		uint64_t start = index->chunks[i].offset,
			 end = index->chunks[next - 1].offset + chunk_size(index, &index->chunks[next - 1]);
		if (count++ < RANGES_MAX)
			printf("differs: bytes %llu to %llu (%s)\n", (unsigned long long)start,
			       (unsigned long long)end - 1, human_bytes(end - start, size));
	}
	return count;
}

static void print_found(const struct device *device, const struct image_file *o, const struct compared *found) {
	char used[32];

	printf("verify: %s holds %s: %s in %u chunks, %s%s%s\n", device->name, image_file_name(o),
	       human_bytes(o->image.index.used, used), o->image.index.chunk_count, o->image.digest,
	       found->is_moved ? "; its GPT is that for a disk of another size" : "",
	       found->is_grown ? "; its last partition has grown" : "");
}

static int compare(struct device *device, const struct image_file *o, struct progress *progress, struct fault *fault) {
	const struct index *index = &o->image.index;
	cleanup_free uint8_t *differ = malloc(bitmap_size(index) + 1);
	struct compared found;
	size_t ranges;
	int r;

	if (!differ)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "verify");
	r = compare_disk(device, o->source, index, differ, &found, progress, fault);
	if (r < 0)
		return r;
	ranges = print_ranges(index, differ);
	if (ranges > RANGES_MAX)
		printf("differs: %zu more ranges\n", ranges - RANGES_MAX);
	if (found.copy_differs)
		printf("differs: bytes %llu to %llu (the copy of the GPT)\n", (unsigned long long)found.copy_at,
		       (unsigned long long)(found.copy_at + found.copy_size - 1));
	if (found.found.differ > 0 || found.copy_differs)
		return fault_set(fault, CODE_INTEGRITY,
				 "%s does not hold %s: %u of %u chunks differ in %zu ranges%s, "
				 "%u of them cannot be read",
				 device->name, image_file_name(o), found.found.differ, index->chunk_count, ranges,
				 found.copy_differs ? ", and the copy of the GPT" : "", found.found.unreadable);
	print_found(device, o, &found);
	return 0;
}

static int verify_disk(const struct operands *operands, const struct image_file *o, struct progress *progress,
		       struct fault *fault) {
	const char *selector = operands_get(operands, "disk"), *file = operands_get(operands, "file"),
		   *partition = operands_get(operands, "partition");
	cleanup_with(device_close) struct device device = {.fd = -1};
	cleanup_with(text_free) struct text list = {0};
	int r = selector ? device_open_read(selector, &device, &list, fault)
			 : device_open_read_file(file, &device, fault);

	if (r < 0)
		fputs(text_string(&list), stderr);
	else if (!selector) // a file has none, and without partition= is what the image is of
		device.sector = o->image.index.sector;
	if (r == 0 && !selector && !partition)
		device.is_partition = o->image.index.is_partition;
	if (r == 0 && partition)
		r = device_take_partition(&device, partition, false, fault);
	return r == 0 ? compare(&device, o, progress, fault) : r;
}

enum exit_code verb_verify(const struct operands *operands) {
	bool disk = operands_get(operands, "disk"), file = operands_get(operands, "file");
	cleanup_with(image_file_close) struct image_file o = {0};
	struct progress progress = {.show = console_progress};
	const char *place = NULL;
	struct fault fault;
	int r = image_file_place(operands, &place, &fault);

	if (r == 0 && disk && file)
		r = fault_set(&fault, CODE_USAGE, "disk= and file= exclude each other");
	if (r == 0 && !disk && !file && operands_get(operands, "partition"))
		r = fault_set(&fault, CODE_USAGE, "partition= needs disk= or file=");
	if (r == 0)
		r = image_file_open(place, operands_get(operands, "digest"), &o, &fault);
	if (r == 0)
		r = disk || file ? verify_disk(operands, &o, &progress, &fault) : verify_file(&o, &progress, &fault);
	return r < 0 ? fault_print(&fault, "verify") : CODE_DONE;
}
