// SPDX-License-Identifier: Apache-2.0
// From a source to an index that is proven: trailer, digest, signature, then the index itself (contract/image.md).
#pragma once

#include "image/index.h"
#include "image/key.h"
#include "image/layout.h"
#include "source/source.h"

struct image {
	struct index index;
	struct trailer trailer;
	size_t index_size;
	char digest[8 + 2 * HASH]; // "sha256:<hex>"
	bool is_signed;		   // by a key of `keys`; else nobody vouches for it
};

struct image_trust {
	const char *digest;    // wanted; NULL: any
	const char *signature; // base64, beside the file; NULL: the trailer's
	const struct keys *keys; // NULL: signatures are not looked at
	bool allow_unsigned;   // a signature that is there must still be right
};

// Reads the end of the file: two or three ranges. The seek table must be the one that follows from the index. Code 5
// for anything that is not as promised, 3 for what this program cannot read.
int image_open(struct source *source, const struct image_trust *trust, struct image *ret, struct fault *fault);
void image_close(struct image *image);
