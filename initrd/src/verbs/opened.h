// SPDX-License-Identifier: Apache-2.0
// An image that a verb looks at: a file or URLs, and the site's keys where there are some.
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

// `place`: a path, or URLs joined by ",". With keys (SLED_KEYS, or the usual file when it is there) a signature must be
// by one of them; an image without one is taken. `digest` may be NULL. To be closed also after a failure.
int opened_open(const char *place, const char *digest, struct opened *ret, struct fault *fault);
int opened_open_unchecked(const char *place, struct opened *ret, struct fault *fault); // whoever signed it
void opened_close(struct opened *opened);

const char *opened_name(const struct opened *opened); // last part of the first path
const char *opened_signature(const struct opened *opened); // "good", "unchecked" or "none"
void opened_key(const struct opened *opened, char ret[2 * KEY_ID + 1]);

// The one of in= and image= that is there. Code 2 for none or both.
struct operands;
int opened_place(const struct operands *operands, const char **ret, struct fault *fault);
