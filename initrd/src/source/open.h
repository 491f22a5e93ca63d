// SPDX-License-Identifier: Apache-2.0
// Reads and verifies the index of an image: trailer, digest, signature, then the index itself (contract/image.md).
#pragma once

#include "image/index.h"
#include "image/layout.h"
#include "image/trust.h"
#include "source/source.h"

struct image {
	struct index index;
	struct trailer trailer;
	size_t index_size;
	char digest[8 + 2 * HASH]; // "sha256:<hex>"
};

// Reads the end of the file in two or three ranges. The seek table must be the one that follows from the index.
// Returns an error of code 5 for any mismatch, 3 for an unsupported image.
int image_open(struct source *source, const struct image_trust *trust, struct image *ret, struct fault *fault);
void image_close(struct image *image);
