// SPDX-License-Identifier: Apache-2.0
// A range of an image file over HTTP: it goes on where it was cut, at the same byte, on the server that is best then.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "net/http.h"
#include "source/server.h"
#include "source/source.h"

struct fetch {
	struct source *source;
	int wake;	   // eventfd, readable once stopped
	uint64_t at, left; // of the range
	struct http http;
	struct choice choice;
	bool answering; // an answer is being read, which begins `skip` bytes before `at`
	bool proven;	// bytes of it have come
	uint64_t skip, answer_left;
	int64_t last_byte; // when one came
};

// The next `size` bytes, of those that are left.
int fetch_read(struct fetch *fetch, void *data, size_t size, struct fault *fault);
void fetch_drop(struct fetch *fetch); // the answer that is being read
