// SPDX-License-Identifier: Apache-2.0
// The statement that the signature of an image is over (contract/image.md, "Signature"). Pure functions.
#pragma once

#include <stdbool.h>

#include "base/fault.h"

#define NAME_MAX_BYTES 128u
#define DATE_BYTES 20u	   // "2026-11-23T15:50:00Z"
#define DIGEST_BYTES 71u   // "sha256:<64 hex>"
#define STATEMENT_MAX 512u // more than any statement has, with its NUL

struct statement {
	char name[NAME_MAX_BYTES + 1], line[NAME_MAX_BYTES + 1];
	char date[DATE_BYTES + 1]; // two of them compare by strcmp
	char digest[DIGEST_BYTES + 1];
};

// The forms of single values.
bool is_image_name(const char *value); // of an image or a line
bool is_digest(const char *value);
bool is_date(const char *value);

// Returns an error of code 2 if it does not parse.
int statement_parse(const char *text, struct statement *ret, struct fault *fault);

// The line of an image if none is given: its name without a version such as -v7 at the end.
void line_of_name(const char *name, char ret[NAME_MAX_BYTES + 1]);

void statement_write(const struct statement *statement, char ret[STATEMENT_MAX]);
