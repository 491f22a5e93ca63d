// SPDX-License-Identifier: Apache-2.0
// An image that a verb reads: a file or URLs.
#pragma once

#include "source/open.h"
#include "source/source.h"

struct image_file {
	struct urls urls;
	struct source *source;
	struct image image;
	uint64_t file_bytes;
};

// `place`: a path, or URLs joined by ",". `digest` may be NULL. Whether it is signed is not checked: the signature is
// not in the file. Close it after a failure too.
int image_file_open(const char *place, const char *digest, struct image_file *ret, struct fault *fault);
void image_file_close(struct image_file *file);

const char *image_file_name(const struct image_file *file); // last part of the first path

// Returns the one of in= and image= that is given. Code 2 for none or both.
struct operands;
int image_file_place(const struct operands *operands, const char **ret, struct fault *fault);
