// SPDX-License-Identifier: Apache-2.0
// Whether an image is the one that a plan names, and signed as the site demands (contract/image.md, "Signature").
#pragma once

#include <stdbool.h>

#include "image/floor.h"
#include "image/key.h"
#include "image/layout.h"

struct image_trust {
	const char *digest;	     // the expected one; NULL: any
	const char *name;	     // of the image in the plan, which a statement must have
	const char *statement;	     // which the signature is over; NULL: it is over the digest (version 1)
	const char *signature;	     // base64; NULL: the one in the trailer. Required with a statement
	const struct keys *keys;     // NULL: signatures are not checked
	const struct floors *floors; // NULL: none
	bool allow_unsigned;	     // an existing signature must still be valid
};

// `digest`: that of the trailer, as text. Sets *ret_signed if a signature was checked. Code 5 if the image is not the
// one, 2 for a statement or signature that does not parse.
int trust_check(const struct image_trust *trust, const struct trailer *trailer, const char *digest, bool *ret_signed,
		struct fault *fault);
