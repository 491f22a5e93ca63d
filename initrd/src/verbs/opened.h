// SPDX-License-Identifier: Apache-2.0
// An image that a verb reads: a file or URLs, and the site's keys if there are any.
#pragma once

#include "source/open.h"
#include "source/source.h"

struct opened {
	struct urls urls;
	struct source *source;
	struct image image;
	struct keys keys;
	bool has_keys;
	uint64_t file_bytes;
};

// `place`: a path, or URLs joined by ",". With keys (SLED_KEYS, else the default file if it exists) a signature must be
// by one of them; an image without a signature is accepted. `digest` may be NULL. Close it after a failure too.
int opened_open(const char *place, const char *digest, struct opened *ret, struct fault *fault);

// The same, but if keys were named (`keys`, unless it is NULL, or SLED_KEYS), an image without a signature is code 5.
int opened_open_signed(const char *place, const char *digest, const char *keys, struct opened *ret,
		       struct fault *fault);

// The same, whatever its signature.
int opened_open_unchecked(const char *place, const char *digest, struct opened *ret, struct fault *fault);
void opened_close(struct opened *opened);

const char *opened_name(const struct opened *opened); // last part of the first path
const char *opened_signature(const struct opened *opened); // "good", "unchecked" or "none"
const char *opened_signature_text(const struct opened *opened); // the same for people
void opened_key(const struct opened *opened, char ret[2 * KEY_ID + 1]);

// Returns the one of in= and image= that is given. Code 2 for none or both.
struct operands;
int opened_place(const struct operands *operands, const char **ret, struct fault *fault);
