// SPDX-License-Identifier: Apache-2.0
// Reads a range of an image file over HTTP. After an interruption it continues at the same byte, on the best server.
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
	bool answering; // a response is being read whose first byte is `skip` bytes before `at`
	bool proven;	// bytes of it have arrived
	uint64_t skip, answer_left;
	int64_t last_byte; // when the last byte arrived
};

// Reads the next `size` bytes of the range.
int fetch_read(struct fetch *fetch, void *data, size_t size, struct fault *fault);
void fetch_drop(struct fetch *fetch); // ends the response that is being read
