// SPDX-License-Identifier: Apache-2.0
#include "image/trust.h"

#include <string.h>

#include "base/bytes.h"

static int refuse(struct fault *fault, const char *digest, const char *what) {
	return fault_set(fault, CODE_INTEGRITY, "image %s: %s", digest, what);
}

// Version 1: the signature beside the file or in its trailer is over the digest.
static int message_v1(const struct image_trust *trust, const struct trailer *trailer, const char *digest,
		      struct message *ret, struct fault *fault) {
	if (trust->floors && trust->floors->refuses_v1)
		return refuse(fault, digest,
			      "its signature has no statement (version 1), which this site refuses (" DEFAULT_FLOOR
			      "): sign it again with sledctl image sign");
	*ret = message_of_digest(trailer->digest);
	return 0;
}

// The statement must be one of this file, for this name, and not too old.
static int message_v2(const struct image_trust *trust, const char *digest, struct message *ret, struct fault *fault) {
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
	*ret = message_of_statement(trust->statement);
	return trust->floors ? floors_check(trust->floors, &statement, fault) : 0;
}

// Reads the signature beside the file, if there is one.
static int take_beside(const struct image_trust *trust, uint8_t ret[SIGNATURE], struct fault *fault) {
	if (trust->statement && (!trust->signature || !trust->name))
		return fault_set(fault, CODE_USAGE, "image: statement= needs signature= and name=");
	if (trust->signature && signature_decode(trust->signature, ret) < 0)
		return fault_set(fault, CODE_USAGE, "image: signature \"%s\" is not 64 bytes in base64",
				 trust->signature);
	return 0;
}

static int check_message(const struct image_trust *trust, const struct trailer *trailer, const char *digest,
			 struct message *ret, struct fault *fault) {
	return trust->statement ? message_v2(trust, digest, ret, fault)
				: message_v1(trust, trailer, digest, ret, fault);
}

int trust_check(const struct image_trust *trust, const struct trailer *trailer, const char *digest, bool *ret_signed,
		struct fault *fault) {
	bool within = !is_zero(trailer->signature, SIGNATURE);
	uint8_t beside[SIGNATURE];
	struct message message;
	const struct key *key;
	int r;

	if (trust->digest && strcmp(trust->digest, digest) != 0)
		return fault_set(fault, CODE_INTEGRITY, "image: the file has digest %s, expected %s", digest,
				 trust->digest);
	if (within == is_zero(trailer->key, KEY_ID))
		return refuse(fault, digest, "the trailer has an incomplete signature");
	r = take_beside(trust, beside, fault);
	if (r < 0 || !trust->keys)
		return r;
	if (!within && !trust->signature)
		return trust->allow_unsigned ? 0 : refuse(fault, digest, "not signed: sign it with sledctl image sign");
	r = check_message(trust, trailer, digest, &message, fault);
	if (r < 0)
		return r;
	key = keys_verify(trust->keys, &message, trust->signature ? beside : trailer->signature);
	if (!key || (!trust->signature && memcmp(key->id, trailer->key, KEY_ID) != 0))
		return fault_set(fault, CODE_INTEGRITY, "image %s: the signature is by none of the %zu known keys",
				 digest, trust->keys->count);
	*ret_signed = true;
	return 0;
}
