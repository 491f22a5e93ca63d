// SPDX-License-Identifier: Apache-2.0
// Whether an image is the one that a plan names, and signed as the site demands (contract/image.md, "Signature").
#pragma once

#include <stdbool.h>

#include "image/floor.h"
#include "image/key.h"

struct image_trust {
	const char *digest;			  // the expected one; NULL: any
	const char *name, *statement, *signature; // of the image in the plan; NULL: it is not signed
	const struct keys *keys;		  // NULL: signatures are not checked
	const struct floors *floors;
	bool allow_unsigned; // an existing signature must still be valid
};

// `digest`: that of the file. Returns an error of code 5 if the image is not the one, 2 for a statement or signature
// that does not parse.
int trust_check(const struct image_trust *trust, const char *digest, struct fault *fault);
