// SPDX-License-Identifier: Apache-2.0
// URLs: http, https and file, and lists of them joined by ",". Pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define URLS_MAX 16u

enum scheme { SCHEME_HTTP, SCHEME_HTTPS, SCHEME_FILE };

struct url {
	char *text; // the original
	enum scheme scheme;
	char *host; // without brackets; empty for file
	uint16_t port;
	char *path; // with the query; for file: the file's path
};

struct urls {
	size_t count;
	struct url items[URLS_MAX];
};

// Refuses user information, fragments, control bytes and spaces. Free `ret` only after success.
int url_parse(const char *text, struct url *ret, struct fault *fault);
void url_free(struct url *url);

// At least one. Free `ret` after a failure too.
int urls_parse(const char *text, struct urls *ret, struct fault *fault);
void urls_free(struct urls *urls);

bool url_is_loopback(const struct url *url);
