// SPDX-License-Identifier: Apache-2.0
#include "write/write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/number.h"
#include "disk/seam.h"
#include "disk/stamp.h"
#include "net/api.h"
#include "verbs/proven.h"
#include "verbs/verbs.h"
#include "write/fit.h"

#define IDLE_NS (300 * SECOND) // long enough for the restart of a server

static int choice(const struct operands *operands, const char *key, const char *const words[], int otherwise) {
	const char *value = operands_get(operands, key);
	for (int i = 0; value && words[i]; i++)
		if (!strcmp(value, words[i]))
			return i;
	return otherwise;
}

static struct write_order order_of(const struct operands *operands) {
	static const char *const modes[] = {"full", "delta", "auto", NULL}, *const gaps[] = {"discard", "zero", "keep",
											     NULL};
	static const char *const checks[] = {"none", "sample", "full", NULL};

	return (struct write_order){
		.mode = (enum write_mode)choice(operands, "mode", modes, WRITE_AUTO),
		.gaps = (enum write_gaps)choice(operands, "gaps", gaps, GAPS_DISCARD),
		.check = (enum write_check)choice(operands, "verify", checks, CHECK_SAMPLE),
	};
}

// "full: 1559 MB in 3.2 s, 487 MB/s; fetched 457 MB; as requested"
static void print_detail(const struct written *w, uint64_t used, int64_t took, bool has_multicast) {
	const struct multicast_summary *m = &w->multicast;
	const double mb = 1e6, s = (double)(took > 0 ? took : 1) / (double)SECOND;

	printf("detail %s: %.0f MB in %.1f s, %.0f MB/s; fetched %.0f MB, wrote %.0f MB",
	       w->mode == WRITE_FULL ? "full" : "delta", (double)used / mb, s, (double)used / mb / s,
	       (double)w->fetched / mb, (double)w->written / mb);
	if (w->mode == WRITE_DELTA)
		printf(", %.0f MB were right before", (double)w->right_before / mb);
	printf("; %s", w->why);
	if (has_multicast)
		printf("; multicast %.0f MB, %llu packets lost of %llu, %llu without room, %u frames rejected, "
		       "%llu refused%s%s",
		       (double)m->bytes / mb, (unsigned long long)m->lost, (unsigned long long)(m->lost + m->packets),
		       (unsigned long long)m->dropped, m->rejected, (unsigned long long)m->refused,
		       *m->why ? "; not all: " : "", m->why);
	printf("\n");
}

// For the report (contract/report.md).
static void print_received(const struct written *w) {
	const struct multicast_summary *m = &w->multicast;

	printf("received http=%llu multicast=%llu packets=%llu lost=%llu rejected=%u last=%u\n",
	       (unsigned long long)w->fetched, (unsigned long long)m->bytes, (unsigned long long)m->packets,
	       (unsigned long long)m->lost, m->rejected, m->last);
}

// For `grow`, which grows nothing without it.
static void leave_kept(const struct kept *kept) {
	const char *path = getenv("SLED_KEPT");
	struct fault fault;

	if (!path) {
		path = KEPT_FILE;
		(void)mkdir("/run/sled", 0755);
	}
	if (kept_write(kept, path, &fault) < 0)
		fprintf(stderr, "write: %s: no partition can be grown later\n", fault.text);
}

static int write_timed(struct source *source, const struct image *image, const struct operands *operands,
		       struct device *device, struct fault *fault) {
	struct write_order order = order_of(operands);
	const char *multicast = operands_get(operands, "multicast");
	struct multicast_address address;
	struct progress progress = {.show = console_progress};
	struct written written = {0};
	int64_t begin = clock_now();
	int r = multicast ? address_parse(multicast, &address, fault) : 0;

	address.join = seam_idle(DEFAULT_JOIN);
	address.silence = seam_idle(DEFAULT_SILENCE);
	address.expected = (uint16_t)atoi(operands_get_or(operands, "expected", "0"));
	order.multicast = multicast ? &address : NULL;
	if (r == 0)
		r = write_image(source, image, &order, device, &written, &progress, fault);
	if (r == 0 && operands_get(operands, "disk") && !device->is_partition)
		leave_kept(&written.kept);
	if (r == 0) {
		print_received(&written);
		print_detail(&written, image->index.used, clock_now() - begin, multicast);
	}
	return r;
}

static int check_room(const struct operands *operands, const struct image *image, struct fault *fault) {
	const char *text = operands_get(operands, "room");
	uint64_t room = UINT64_MAX;

	if (text)
		(void)number_parse(text, NUMBER_MAX, &room);
	if (image->index.bytes <= room)
		return 0;
	return fault_set(fault, CODE_UNSUPPORTED, "the image has %llu bytes, and there is room for %llu",
			 (unsigned long long)image->index.bytes, (unsigned long long)room);
}

// A file of a disk, for one of its partitions, exists.
static int open_file(const struct operands *operands, const struct image *image, struct device *device,
		     struct fault *fault) {
	const char *file = operands_get(operands, "file"), *partition = operands_get(operands, "partition");
	int r;

	if (partition && access(file, F_OK) < 0)
		return fault_errno(fault, CODE_DISK, errno, "%s", file);
	r = device_open_file(file, partition ? 0 : image->index.bytes, image->index.sector, device, fault);
	return r == 0 && partition ? device_take_partition(device, partition, false, fault) : r;
}

// A disk is open already; a file is opened here, because the image determines its size.
static int write_to(struct device *device, const struct operands *operands, struct fault *fault) {
	cleanup_with(urls_free) struct urls urls = {0};
	cleanup_with(source_close) struct source *source = NULL;
	cleanup_with(image_close) struct image image = {0};
	const char *ca = getenv("SLED_CA"), *file = operands_get(operands, "file");
	int r = urls_parse(operands_get(operands, "image"), &urls, fault);

	if (r == 0)
		r = source_open(&urls, ca ? ca : DEFAULT_CA, seam_idle(IDLE_NS), &source, fault);
	if (r == 0)
		source_use_token(source, getenv("SLED_TOKEN_FILE"));
	if (r == 0)
		r = image_open_proven(source, operands, "write", &image, fault);
	if (r == 0)
		r = check_room(operands, &image, fault);
	if (r == 0)
		r = fit_check_kind(&image.index, operands_get(operands, "partition"), "write", fault);
	if (r == 0 && file)
		r = open_file(operands, &image, device, fault);
	return r == 0 ? write_timed(source, &image, operands, device, fault) : r;
}

// All of it, or one of its partitions.
static int open_disk(const struct operands *operands, struct device *device, struct text *list, struct fault *fault) {
	const char *disk = operands_get(operands, "disk"), *keep = operands_get(operands, "keep"),
		   *partition = operands_get(operands, "partition");
	int r = partition ? device_open(disk, keep, device, list, fault)
			  : device_open_whole(disk, keep, device, list, fault);

	if (r == 0)
		r = stamp_admit(device, operands_get(operands, "known"), fault);
	return r == 0 && partition ? device_take_partition(device, partition, true, fault) : r;
}

enum exit_code verb_write(const struct operands *operands) {
	cleanup_with(device_close) struct device device = {.fd = -1};
	cleanup_with(text_free) struct text list = {0};
	bool has_file = operands_get(operands, "file");
	struct fault fault;
	int r = 0;

	if (has_file == !!operands_get(operands, "disk") || (has_file && operands_get(operands, "keep")))
		r = fault_set(&fault, CODE_USAGE, "exactly one of disk= (with keep=) and file= is required");
	else if (!has_file && (r = open_disk(operands, &device, &list, &fault)) < 0)
		fputs(text_string(&list), stderr);
	if (r == 0)
		r = write_to(&device, operands, &fault);
	return r < 0 ? fault_print(&fault, "write") : CODE_DONE;
}
