// SPDX-License-Identifier: Apache-2.0
#include "source/image_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/operand.h"
#include "disk/seam.h"
#include "net/api.h"
#include "source/stream.h"

#define IDLE_NS (60 * SECOND) // a person waits

// A path may contain characters that a URL may not.
static int urls_of_file(const char *path, struct urls *ret, struct fault *fault) {
	struct url *url = &ret->items[0];

	*url = (struct url){.text = strdup(path), .scheme = SCHEME_FILE, .host = strdup(""), .path = strdup(path)};
	ret->count = 1;
	return url->text && url->host && url->path ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "%s", path);
}

int image_file_open(const char *place, const char *digest, struct image_file *ret, struct fault *fault) {
	const struct image_trust trust = {.digest = digest};
	const char *ca = getenv("SLED_CA");
	int r = strstr(place, "://") ? urls_parse(place, &ret->urls, fault) : urls_of_file(place, &ret->urls, fault);

	if (r == 0)
		r = source_open(&ret->urls, ca ? ca : DEFAULT_CA, seam_idle(IDLE_NS), &ret->source, fault);
	if (r == 0)
		r = stream_file_size(ret->source, &ret->file_bytes, fault);
	if (r == 0)
		r = image_open(ret->source, &trust, &ret->image, fault);
	return r < 0 ? fault_prefix(fault, r, "%s: ", image_file_name(ret)) : 0;
}

void image_file_close(struct image_file *file) {
	image_close(&file->image);
	source_close(&file->source);
	urls_free(&file->urls);
}

const char *image_file_name(const struct image_file *file) {
	const char *path = file->urls.count > 0 ? file->urls.items[0].path : "image", *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

int image_file_place(const struct operands *operands, const char **ret, struct fault *fault) {
	const char *file = operands_get(operands, "in"), *urls = operands_get(operands, "image");

	if (!file == !urls)
		return fault_set(fault, CODE_USAGE, "exactly one of in=FILE and image=URL is required");
	*ret = file ? file : urls;
	return 0;
}
