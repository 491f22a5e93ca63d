// SPDX-License-Identifier: Apache-2.0
// HTTP answers, cut at every place.
#include "net/answer.h"
#include "tap.h"

static struct fault fault;
static struct head head;
static char body[4096];
static size_t body_size;

// Feeds `step` bytes at a time. 0: complete; else the failure.
static int feed(const char *text, size_t step, bool eof) {
	static struct answer answer;
	size_t size = strlen(text), at = 0, end = 0;

	answer_begin(&answer);
	body_size = 0;
	while (!answer.body_done) {
		size_t taken;
		int r;
		if (at == end) {
			end = end + step < size ? end + step : size;
			if (at == end && !eof)
				return 1; // wants more
		}
		r = answer_feed(&answer, text + at, end - at, &taken, &fault);
		if (r < 0)
			return r;
		if (answer.body_size)
			memcpy(body + body_size, answer.body, answer.body_size);
		body_size += answer.body_size;
		at += taken;
	}
	body[body_size] = 0;
	head = answer.head;
	return 0;
}

static void test_whole(size_t step) {
	ok(feed("HTTP/1.1 206 Partial\r\nContent-Length: 5\r\nX-Empty:\r\nContent-Range: bytes 100-104/1000\r\n"
		"sled-token: sledb_x\r\nLocation: /images/f\r\nRetry-After: 7\r\n\r\nhello",
		step, false) == 0,
	   "an answer, %zu bytes at a time", step);
	ok(head.status == 206 && head.has_length && head.length == 5, "status and length");
	ok(head.has_range && head.range_from == 100 && head.range_last == 104 && head.has_total && head.total == 1000,
	   "range");
	ok(!head.is_encoded, "no Content-Encoding");
	ok(head.has_retry && head.retry_after == 7, "Retry-After");
	same(head.token, "sledb_x", "Sled-Token, whatever its case, after an empty header");
	same(head.location, "/images/f", "Location");
	same(body, "hello", "body");
	ok(feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", step, false) ==
		   0,
	   "chunked");
	same(body, "abcde", "body of chunks");
	ok(feed("HTTP/1.1 204 No Content\r\n\r\n", step, false) == 0 && body_size == 0, "no content");
	ok(feed("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", step, false) == 0 &&
		   head.status == 200,
	   "100 before the answer");
	ok(feed("HTTP/1.0 200 OK\r\n\r\nuntil the end", step, true) == 0, "body up to the end");
	same(body, "until the end", "is taken");
	ok(feed("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", step, true) < 0 && fault.code == CODE_NETWORK,
	   "cut: %s", fault.text);
	ok(feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", step, true) < 0, "cut within a chunk");
	ok(feed("HTTP/1.1 200", step, true) < 0, "cut within the head");
	ok(feed("", step, true) < 0, "nothing at all");
	ok(feed("SSH-2.0-OpenSSH_9.2\r\n", step, true) < 0, "not HTTP: %s", fault.text);
}

static void test_malformed(void) {
	char long_token[600] = "HTTP/1.1 204 x\r\nSled-Token: ", long_url[600] = "HTTP/1.1 204 x\r\nLocation: ";

	ok(feed("HTTP/1.1 206 x\r\nContent-Length: 0\r\nContent-Range: bytes 9-5/10\r\nRetry-After: soon\r\n\r\n", 99,
		false) == 0 &&
		   !head.has_range && !head.has_retry,
	   "a range that runs backwards, a time that is no number");
	ok(feed("HTTP/1.1 200 x\r\nContent-Length: 99999999999999999999999\r\n\r\n", 99, false) < 0,
	   "a length beyond all");
	memset(long_token + strlen(long_token), 'a', 300);
	strcat(long_token, "\r\n\r\n");
	ok(feed(long_token, 1000, false) == 0 && !*head.token, "a token that is too long is none");
	memset(long_url + strlen(long_url), 'a', LOCATION_MAX + 1);
	strcat(long_url, "\r\n\r\n");
	ok(feed(long_url, 1000, false) == 0 && !*head.location, "a URL that is too long is none");
}

static bool has_range(const char *value) {
	char text[200];

	snprintf(text, sizeof(text), "HTTP/1.1 206 x\r\nContent-Length: 0\r\nContent-Range: %s\r\n\r\n", value);
	return feed(text, 4096, false) == 0 && head.has_range;
}

static void test_ranges(void) {
	static const char *const bad[] = {"bytes 0-9/9",
					  "bytes 5-4/10",
					  "bytes 0-4/10x",
					  "bytes 0-4/",
					  "bytes 0-4",
					  "bytes -4/10",
					  "bytes */10",
					  "bytes 00-4/10",
					  "items 0-4/10",
					  "bytes 0-99999999999999999999/*",
					  "bytes 0-4/10, 6-7/10",
					  ""};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!has_range(bad[i]), "\"%s\" is no range", bad[i]);
	ok(has_range("bytes 0-9/10") && head.range_last == 9 && head.total == 10, "up to the last byte");
	ok(has_range("bytes 3-9/*") && head.range_from == 3 && !head.has_total, "of a file of unknown size");
	ok(feed("HTTP/1.1 200 x\r\nContent-Length: 0\r\nContent-Encoding: gzip\r\n\r\n", 3, false) == 0 &&
		   head.is_encoded,
	   "encoded");
	ok(feed("HTTP/1.1 200 x\r\nContent-Length: 0\r\nContent-Encoding: identity\r\n\r\n", 3, false) == 0 &&
		   !head.is_encoded,
	   "identity is not");
}

static void test_left(void) {
	static const char text[] = "HTTP/1.1 200 x\r\nContent-Length: 5\r\n\r\nhello";
	static struct answer answer;
	size_t at = 0, taken;

	answer_begin(&answer);
	ok(answer_left(&answer) == 0, "nothing is known to be left before the head");
	while (!answer.head_done && answer_feed(&answer, text + at, strlen(text) - at, &taken, &fault) == 0)
		at += taken;
	ok(answer_left(&answer) == 5, "all of the body is left after the head");
	while (at < strlen(text) - 3 && answer_feed(&answer, text + at, strlen(text) - 3 - at, &taken, &fault) == 0)
		at += taken;
	ok(answer_left(&answer) == 3, "three bytes are left");
}

int main(void) {
	test_ranges();
	test_left();
	test_whole(1);
	test_whole(7);
	test_whole(4096);
	test_malformed();
	return tap_done();
}
