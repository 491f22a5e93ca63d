// SPDX-License-Identifier: Apache-2.0
// Parses an HTTP/1.1 response from bytes as they arrive. A pure state machine over libhttp_parser: no I/O.
#pragma once

#include <http_parser.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define TOKEN_MAX 256u	  // bytes of a token
#define LOCATION_MAX 500u // bytes of a URL

// The head. Fields that are absent or malformed keep their initial value.
struct head {
	unsigned status;
	bool has_length;
	uint64_t length; // of the body of this answer
	bool has_range;
	uint64_t range_from, range_last; // Content-Range: first and last byte
	bool has_total;
	uint64_t total; // Content-Range: of the whole file
	bool has_retry;
	unsigned retry_after;		 // seconds
	bool is_encoded;		 // Content-Encoding: the bytes are not those of the file
	char token[TOKEN_MAX + 1];	 // Sled-Token; "" when absent
	char location[LOCATION_MAX + 1]; // Location; "" when absent
};

struct answer {
	http_parser parser;
	struct head head;
	bool head_done, body_done;
	char field[32], value[512]; // of the header line being read
	size_t field_size, value_size;
	bool in_value;
	const char *body; // the slice that the last answer_feed found
	size_t body_size;
};

void answer_begin(struct answer *answer);

// Consumes bytes from the front of `data`; stops after the head and after each slice of the body, which points into
// `data`. A `size` of 0 means that the server closed the connection. Returns an error of code 6 for anything but a
// response, or if it ends too early.
int answer_feed(struct answer *answer, const char *data, size_t size, size_t *ret_taken, struct fault *fault);

// Bytes of the body that are still to come, if the head contains its length; else 0.
uint64_t answer_left(const struct answer *answer);

bool answer_keeps_alive(const struct answer *answer); // valid only after body_done
