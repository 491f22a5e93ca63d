// SPDX-License-Identifier: Apache-2.0
#include "verbs/proven.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNSIGNED_ALLOWED "/etc/sled/unsigned"

static bool is_unsigned_asked(const struct operands *operands) {
	return !strcmp(operands_get_or(operands, "unsigned", "refuse"), "allow");
}

int image_open_proven(struct source *source, const struct operands *operands, const char *verb, struct image *ret,
		      struct fault *fault) {
	struct keys keys = {0};
	struct floors floors = {0};
	struct image_trust trust = {
		.digest = operands_get(operands, "digest"),
		.name = operands_get(operands, "name"),
		.statement = operands_get(operands, "statement"),
		.signature = operands_get(operands, "signature"),
		.keys = &keys,
		.floors = &floors,
		.allow_unsigned = is_unsigned_asked(operands) && access(UNSIGNED_ALLOWED, F_OK) == 0,
	};
	const char *path = operands_get(operands, "keys"), *floor = getenv("SLED_FLOOR");
	int r;

	if (is_unsigned_asked(operands) && !trust.allow_unsigned)
		fprintf(stderr,
			"%s: unsigned=allow is ignored: there is no file " UNSIGNED_ALLOWED " on this machine\n", verb);
	if (!path && !(path = getenv("SLED_KEYS")))
		path = DEFAULT_KEYS;
	if (access(path, F_OK) < 0 && errno == ENOENT && !trust.allow_unsigned)
		return fault_set(fault, CODE_FAILED,
				 "%s is missing: the public keys that may sign images; elsewhere "
				 "than on a node, pass keys=image.pub of the site",
				 path);
	r = keys_read(path, &keys, fault);
	if (r == 0)
		r = floors_read(floor ? floor : DEFAULT_FLOOR, &floors, fault);
	return r == 0 ? image_open(source, &trust, ret, fault) : r;
}
