// SPDX-License-Identifier: Apache-2.0
// The destination of a new image file, written from its first byte to its last: a file that appears complete or not at
// all, or an upload.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "net/url.h"

struct sink;

struct sink_ops {
	int (*write)(struct sink *, const void *data, size_t size, struct fault *); // all of it
	// makes it appear under its name
	int (*commit)(struct sink *, struct fault *);
	// without commit: removes everything
	void (*close)(struct sink *);
};

struct sink {
	const struct sink_ops *ops;
	const char *location; // after the commit of an upload: the Location of the response, "" without one
};

int sink_open_file(const char *path, struct sink **ret, struct fault *fault);

// Uploads by PUT with a chunked body (RFC 9112, 7.1); `token` is the bearer token. Returns an error of code 6 if the
// server refuses it; an interrupted upload cannot be resumed.
int sink_open_upload(const struct url *url, const char *ca, const char *token, struct sink **ret, struct fault *fault);

void sink_close(struct sink **sink); // for cleanup_with; *sink may be NULL
