// SPDX-License-Identifier: Apache-2.0
#include "source/image_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static int find_keys(struct image_file *file, const char *path, struct fault *fault) {
	file->has_keys = path || access(DEFAULT_KEYS, F_OK) == 0;
	return file->has_keys ? keys_read(path ? path : DEFAULT_KEYS, &file->keys, fault) : 0;
}

static int open_with(const char *place, const struct image_trust *trust, struct image_file *ret, struct fault *fault) {
	const char *ca = getenv("SLED_CA");
	int r = strstr(place, "://") ? urls_parse(place, &ret->urls, fault) : urls_of_file(place, &ret->urls, fault);

	if (r == 0)
		r = source_open(&ret->urls, ca ? ca : DEFAULT_CA, seam_idle(IDLE_NS), &ret->source, fault);
	if (r == 0)
		r = stream_file_size(ret->source, &ret->file_bytes, fault);
	if (r == 0)
		r = image_open(ret->source, trust, &ret->image, fault);
	return r < 0 ? fault_prefix(fault, r, "%s: ", image_file_name(ret)) : 0;
}

static int open_checked(const char *place, const char *digest, const char *keys, bool allow_unsigned,
			struct image_file *ret, struct fault *fault) {
	int r = find_keys(ret, keys, fault);
	struct image_trust trust = {
		.digest = digest, .keys = ret->has_keys ? &ret->keys : NULL, .allow_unsigned = allow_unsigned};

	return r == 0 ? open_with(place, &trust, ret, fault) : r;
}

int image_file_open(const char *place, const char *digest, struct image_file *ret, struct fault *fault) {
	return open_checked(place, digest, getenv("SLED_KEYS"), true, ret, fault);
}

int image_file_open_signed(const char *place, const char *digest, const char *keys, struct image_file *ret,
			   struct fault *fault) {
	const char *path = keys ? keys : getenv("SLED_KEYS");
	return open_checked(place, digest, path, !path, ret, fault);
}

int image_file_open_unchecked(const char *place, const char *digest, struct image_file *ret, struct fault *fault) {
	return open_with(place, &(struct image_trust){.digest = digest}, ret, fault);
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

void image_file_key(const struct image_file *file, char ret[2 * KEY_ID + 1]) {
	for (size_t i = 0; i < KEY_ID; i++)
		snprintf(ret + 2 * i, 3, "%02x", file->image.trailer.key[i]);
}

static bool has_signature(const struct image_file *file) {
	static const uint8_t none[SIGNATURE];
	return memcmp(file->image.trailer.signature, none, SIGNATURE) != 0;
}

const char *image_file_signature(const struct image_file *file) {
	return file->image.is_signed ? "good" : has_signature(file) ? "unchecked" : "none";
}

const char *image_file_signature_text(const struct image_file *file) {
	return file->image.is_signed ? "signature good"
	       : has_signature(file) ? "signature not checked: pass keys="
				     : "not signed";
}

int image_file_place(const struct operands *operands, const char **ret, struct fault *fault) {
	const char *file = operands_get(operands, "in"), *urls = operands_get(operands, "image");

	if (!file == !urls)
		return fault_set(fault, CODE_USAGE, "exactly one of in=FILE and image=URL is required");
	*ret = file ? file : urls;
	return 0;
}
