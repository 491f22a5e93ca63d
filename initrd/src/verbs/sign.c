// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "image/key.h"
#include "verbs/opened.h"
#include "verbs/verbs.h"

const struct operand_rule sign_rules[] = {
	{"digest", false, "print the signature of this digest", NULL, check_digest},
	{"in", false, "instead: sign this image file in place", NULL, NULL},
	{"key", true, "PEM file with the Ed25519 private key", NULL, NULL},
	{0},
};

static void bytes_of(const char *digest, uint8_t ret[HASH]) {
	for (size_t i = 0; i < HASH; i++)
		(void)sscanf(digest + strlen("sha256:") + 2 * i, "%2hhx", &ret[i]);
}

static int sign_digest(const char *digest, const char *key, struct fault *fault) {
	uint8_t bytes[HASH] = {0}, id[KEY_ID], signature[SIGNATURE];
	char text[89];
	int r;

	bytes_of(digest, bytes);
	r = key_sign(key, bytes, id, signature, fault);
	if (r < 0)
		return r;
	signature_encode(signature, text);
	puts(text);
	return 0;
}

// Writes the whole frame of the trailer at once, so that the file has either the old signature or the new one.
static int put_trailer(const char *path, const struct trailer *trailer, struct fault *fault) {
	cleanup_close int fd = open(path, O_WRONLY | O_CLOEXEC);
	uint8_t frame[SKIPPABLE + TRAILER];

	trailer_write(trailer, frame);
	if (fd < 0 || pwrite(fd, frame, sizeof(frame),
		(off_t)(trailer->index_at + trailer->index_size)) != (ssize_t)sizeof(frame) || fsync(fd) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", path);
	return 0;
}

static int sign_file(const char *path, const char *key, struct fault *fault) {
	cleanup_with(opened_close) struct opened o = {0};
	struct trailer *trailer = &o.image.trailer;
	int r = opened_open_unchecked(path, &o, fault);

	if (r == 0)
		r = key_sign(key, trailer->digest, trailer->key, trailer->signature, fault);
	if (r == 0)
		r = put_trailer(path, trailer, fault);
	if (r == 0)
		printf("sign: %s: %s\n", opened_name(&o), o.image.digest);
	return r;
}

enum exit_code verb_sign(const struct operands *operands) {
	const char *digest = operands_get(operands, "digest"), *file = operands_get(operands, "in"), *key =
		operands_get(operands, "key");
	struct fault fault;
	int r;

	if (!digest == !file)
		r = fault_set(&fault, CODE_USAGE, "exactly one of digest=sha256:... and in=FILE is required");
	else
		r = digest ? sign_digest(digest, key, &fault) : sign_file(file, key, &fault);
	return r < 0 ? fault_print(&fault, "sign") : CODE_DONE;
}
