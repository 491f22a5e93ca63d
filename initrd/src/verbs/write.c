// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/number.h"
#include "disk/seam.h"
#include "image/write.h"
#include "net/api.h"
#include "verbs/verbs.h"

#define IDLE_NS (300 * SECOND) // a server may be restarted meanwhile; a dead one is given up

static int write_to(struct device *device, const struct operands *operands, struct fault *fault) {
	cleanup_with(urls_free) struct urls urls = {0};
	struct write_order order = {
		.digest = operands_get(operands, "digest"),
		.raw = !strcmp(operands_get_or(operands, "format", "zstd"), "raw"),
	};
	struct progress progress = {.show = console_progress};
	const char *ca = getenv("SLED_CA");
	struct source *source = NULL;
	int r = urls_parse(operands_get(operands, "image"), &urls, fault);

	(void)number_parse(operands_get(operands, "bytes"), NUMBER_MAX, &order.bytes);
	if (r == 0)
		r = source_open(&urls, ca ? ca : DEFAULT_CA, seam_idle(IDLE_NS), &source, fault);
	return r == 0 ? write_image(source, &order, device, &progress, fault) : r;
}

enum exit_code verb_write(const struct operands *operands) {
	cleanup_with(device_close) struct device device = {.fd = -1};
	cleanup_with(text_free) struct text list = {0};
	struct fault fault;
	int r = device_open(operands, &device, &list, &fault);

	if (r < 0)
		fputs(text_string(&list), stderr);
	else
		r = write_to(&device, operands, &fault);
	return r < 0 ? fault_print(&fault, "write") : CODE_DONE;
}
