// SPDX-License-Identifier: Apache-2.0
// HTTP answers: the first byte says how many bytes come at a time. Cut otherwise, they must read the same.
#include <stdlib.h>
#include <string.h>

#include "net/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct reading {
	int result;
	struct head head;
	size_t body;
	uint32_t sum;
};

static struct reading feed(const char *data, size_t size, size_t step) {
	static struct answer answer;
	struct reading got = {0};
	struct fault fault;
	size_t at = 0, end = 0;

	answer_begin(&answer);
	while (got.result == 0 && !answer.body_done) {
		size_t taken;
		if (at == end)
			end = size - end < step ? size : end + step;
		got.result = answer_feed(&answer, data + at, end - at, &taken, &fault);
		if (taken > end - at ||
		    (answer.body_size && (answer.body < data || answer.body + answer.body_size > data + size)))
			abort();
		for (size_t i = 0; got.result == 0 && i < answer.body_size; i++)
			got.sum = got.sum * 31 + (uint8_t)answer.body[i];
		got.body += got.result == 0 ? answer.body_size : 0;
		at += taken;
	}
	got.head = answer.head;
	if (got.head.has_range && (got.head.range_last < got.head.range_from ||
				   (got.head.has_total && got.head.range_last >= got.head.total)))
		abort();
	if (got.head.has_length && got.result == 0 && got.body != got.head.length)
		abort();
	return got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct reading a, b;

	if (size < 2)
		return 0;
	a = feed((const char *)data + 1, size - 1, 1 + data[0]);
	b = feed((const char *)data + 1, size - 1, size);
	if (a.result == 0 && b.result == 0 &&
	    (memcmp(&a.head, &b.head, sizeof(a.head)) || a.body != b.body || a.sum != b.sum))
		abort();
	return 0;
}
