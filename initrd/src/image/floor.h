// SPDX-License-Identifier: Apache-2.0
// The oldest signatures that a site accepts: /etc/sled/image.floor (contract/image.md, "Signature").
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "image/statement.h"

#define DEFAULT_FLOOR "/etc/sled/image.floor" // SLED_FLOOR names another file
#define FLOORS_MAX 256u

struct floor_line {
	char line[NAME_MAX_BYTES + 1], date[DATE_BYTES + 1];
};

struct floors {
	size_t count;
	struct floor_line items[FLOORS_MAX];
};

// Pure. Returns an error of code 1 if a line does not parse or occurs twice.
int floors_parse(const char *text, struct floors *ret, struct fault *fault);

// No floors if the file does not exist.
int floors_read(const char *path, struct floors *ret, struct fault *fault);

// Returns an error of code 5 if a statement is older than the floor of its line.
int floors_check(const struct floors *floors, const struct statement *statement, struct fault *fault);
