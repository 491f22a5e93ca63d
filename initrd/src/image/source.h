// SPDX-License-Identifier: Apache-2.0
// Where the bytes of an image file come from: read in order, from the first. A source hides cuts, retries and servers.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "net/url.h"

struct source;

struct source_ops {
	// At least one byte, at most `size`; *ret_size 0: the end. Code 6 when no server answers in time.
	int (*read)(struct source *, void *data, size_t size, size_t *ret_size, struct fault *);
	void (*close)(struct source *);
};

struct source {
	const struct source_ops *ops;
};

// http and https: tried in turn, resumed where a connection was cut. Gives up when no byte has come for `idle_ns`.
int source_open_http(const struct urls *urls, const char *ca, int64_t idle_ns, struct source **ret, struct fault *fault);
int source_open_file(const char *path, struct source **ret, struct fault *fault);

// Passes the bytes of `inner`, which it owns from now on, and hashes them on the way.
int source_open_hash(struct source *inner, struct source **ret, struct fault *fault);

// Reads what is left and compares. Code 5 when the bytes are not those of `digest` ("sha256:<hex>").
int source_hash_check(struct source *source, const char *digest, struct fault *fault);

// Any of them, by the scheme of the first URL; a list is either all files or none.
int source_open(const struct urls *urls, const char *ca, int64_t idle_ns, struct source **ret, struct fault *fault);

static inline int source_read(struct source *source, void *data, size_t size, size_t *ret_size, struct fault *fault) {
	return source->ops->read(source, data, size, ret_size, fault);
}

void source_close(struct source **source); // for cleanup_with; *source may be NULL
