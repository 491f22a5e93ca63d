// SPDX-License-Identifier: Apache-2.0
// An image that a verb reads: a file or URLs, and the site's keys if there are any.
#pragma once

#include "source/open.h"
#include "source/source.h"

struct image_file {
	struct urls urls;
	struct source *source;
	struct image image;
	struct keys keys;
	bool has_keys;
	uint64_t file_bytes;
};

// `place`: a path, or URLs joined by ",". With keys (SLED_KEYS, else the default file if it exists) a signature must be
// by one of them; an image without a signature is accepted. `digest` may be NULL. Close it after a failure too.
int image_file_open(const char *place, const char *digest, struct image_file *ret, struct fault *fault);

// The same, but if keys were named (`keys`, unless it is NULL, or SLED_KEYS), an image without a signature is code 5.
int image_file_open_signed(const char *place, const char *digest, const char *keys, struct image_file *ret,
			   struct fault *fault);

// The same, whatever its signature.
int image_file_open_unchecked(const char *place, const char *digest, struct image_file *ret, struct fault *fault);
void image_file_close(struct image_file *file);

const char *image_file_name(const struct image_file *file);	      // last part of the first path
const char *image_file_signature(const struct image_file *file);      // "good", "unchecked" or "none"
const char *image_file_signature_text(const struct image_file *file); // the same for people
void image_file_key(const struct image_file *file, char ret[2 * KEY_ID + 1]);

// Returns the one of in= and image= that is given. Code 2 for none or both.
struct operands;
int image_file_place(const struct operands *operands, const char **ret, struct fault *fault);
