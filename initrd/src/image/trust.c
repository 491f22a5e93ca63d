// SPDX-License-Identifier: Apache-2.0
#include "image/trust.h"

#include <string.h>

// The statement must be one of this file, for this name, and not too old.
static int check_statement(const struct image_trust *trust, const char *digest, struct fault *fault) {
	struct statement statement;
	int r = statement_parse(trust->statement, &statement, fault);

	if (r < 0)
		return r;
	if (strcmp(statement.digest, digest) != 0)
		return fault_set(fault, CODE_INTEGRITY, "image: the file has digest %s, the statement is of %s", digest,
				 statement.digest);
	if (strcmp(statement.name, trust->name) != 0)
		return fault_set(fault, CODE_INTEGRITY, "image %s: the statement was signed for image %s", trust->name,
				 statement.name);
	return floors_check(trust->floors, &statement, fault);
}

static int check_signature(const struct image_trust *trust, const char *digest, struct fault *fault) {
	uint8_t signature[SIGNATURE];
	int r;

	if (!trust->statement || !trust->signature || !trust->name)
		return fault_set(
			fault, CODE_USAGE,
			"image %s: name=, statement= and signature= belong together, as sledctl image sign makes them",
			digest);
	if (signature_decode(trust->signature, signature) < 0)
		return fault_set(fault, CODE_USAGE, "image: signature \"%s\" is not 64 bytes in base64",
				 trust->signature);
	r = check_statement(trust, digest, fault);
	if (r == 0 && !keys_verify(trust->keys, trust->statement, signature))
		return fault_set(fault, CODE_INTEGRITY, "image %s: the signature is by none of the %zu known keys",
				 digest, trust->keys->count);
	return r;
}

int trust_check(const struct image_trust *trust, const char *digest, struct fault *fault) {
	if (trust->digest && strcmp(trust->digest, digest) != 0)
		return fault_set(fault, CODE_INTEGRITY, "image: the file has digest %s, expected %s", digest,
				 trust->digest);
	if (!trust->keys)
		return 0;
	if (trust->statement || trust->signature)
		return check_signature(trust, digest, fault);
	return trust->allow_unsigned ? 0
				     : fault_set(fault, CODE_INTEGRITY,
						 "image %s: not signed: sign it with sledctl image sign", digest);
}
