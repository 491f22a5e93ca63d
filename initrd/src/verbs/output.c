// SPDX-License-Identifier: Apache-2.0
// One stream of a job (contract/job.md, Output): standard input, put in segments while it comes.
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "net/api.h"
#include "verbs/verbs.h"

#define LATE_NS SECOND	       // after the first byte of a segment
#define FULL (256u * 1024)     // bytes of a segment that does not wait for LATE_NS
#define SEGMENT_MAX (8u << 20) // bytes
#define KEPT_MAX (16u << 20)   // bytes that were not put yet; then the program waits
#define GIVE_UP (600 * SECOND) // after the end of the stream
#define PAUSE_MAX (5 * SECOND)
#define ANSWER_NS (30 * SECOND)

const struct operand_rule output_rules[] = {
	{"stream", true, "name of the stream; standard input is put in segments", "out|err|files", NULL},
	{"upload", true, "folder at the server; prints STREAM=BYTES STREAM_sha256=SHA256", NULL, check_url},
	{"token", true, "file with the boot token", NULL, NULL},
	{"ca", false, "file with CA certificates (default " DEFAULT_CA ")", NULL, NULL},
	{0},
};

struct output {
	const struct operands *operands;
	struct http http;
	EVP_MD_CTX *hash;
	char *kept;	   // bytes that were not put yet
	size_t size, sent; // bytes in it; bytes of the segment that is put now, 0: none yet
	uint64_t total;	   // bytes of the stream
	unsigned number;   // of the last segment that was put
	int64_t due;	   // when the next segment is put
	int64_t give_up;   // once the stream has ended
	struct backoff backoff;
	bool ended, missing; // missing: the server refused it
};

// 0: it was taken. The status of a refusal is final; any other failure may be repeated.
static int put(struct output *o, struct fault *fault) {
	cleanup_with(url_free) struct url url = {0};
	cleanup_with(text_free) struct text place = {0};
	char token[TOKEN_MAX + 1];
	struct head head;
	int r = api_read_token(operands_get(o->operands, "token"), token, fault);

	text_addf(&place, "%s/%s.%06u", operands_get(o->operands, "upload"), operands_get(o->operands, "stream"),
		  o->number + 1);
	if (r == 0 && place.failed)
		r = fault_errno(fault, CODE_FAILED, ENOMEM, "upload");
	if (r == 0)
		r = url_parse(text_string(&place), &url, fault);
	if (r == 0 && url.scheme != SCHEME_HTTPS && !url_is_loopback(&url))
		r = fault_set(fault, CODE_USAGE, "upload: %s would send the token unencrypted: use https", url.text);
	if (r < 0)
		return r;
	struct request request = {
		.method = "PUT",
		.url = &url,
		.ca = operands_get_or(o->operands, "ca", DEFAULT_CA),
		.token = token,
		.body = o->kept,
		.body_size = o->sent,
		.connect_ns = 5 * SECOND,
		.answer_ns = ANSWER_NS,
		.idle_ns = ANSWER_NS,
	};
	r = http_send(&o->http, &request, &head, fault);
	if (r == 0)
		http_close(&o->http); // whatever the body of the response is
	if (r == 0 && (head.status < 200 || head.status >= 300)) {
		o->missing = (head.status >= 400 && head.status < 500 && head.status != 429) || head.status == 507;
		r = fault_set(fault, CODE_NETWORK, "%s: the server answered %u", url.text, head.status);
	}
	return r;
}

static void put_next(struct output *o) {
	struct fault fault;

	// The same name has the same bytes: what came since is of the next segment.
	if (!o->sent)
		o->sent = o->size < SEGMENT_MAX ? o->size : SEGMENT_MAX;
	if (put(o, &fault) == 0) {
		o->number++;
		memmove(o->kept, o->kept + o->sent, o->size -= o->sent);
		o->sent = 0;
		o->backoff.next = 0;
		o->due = clock_now() + (o->ended || o->size >= FULL ? 0 : LATE_NS);
		return;
	}
	fault_print(&fault, "output");
	o->due = clock_now() + backoff_next(&o->backoff);
	o->missing |= o->ended && o->due > o->give_up;
}

// Reads what there is.
static void take(struct output *o) {
	ssize_t n = read(STDIN_FILENO, o->kept + o->size, KEPT_MAX - o->size);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		o->ended = true;
		o->give_up = clock_now() + GIVE_UP;
		o->due = o->sent ? o->due : 0;
		return;
	}
	EVP_DigestUpdate(o->hash, o->kept + o->size, (size_t)n);
	if (o->size == 0)
		o->due = clock_now() + LATE_NS;
	o->size += (size_t)n;
	o->total += (uint64_t)n;
	if (o->size >= FULL && !o->sent)
		o->due = 0;
}

static void stream(struct output *o) {
	while (!o->ended || (o->size && !o->missing)) {
		struct pollfd in = {.fd = o->ended || o->size == KEPT_MAX ? -1 : STDIN_FILENO, .events = POLLIN};

		if (o->missing)
			o->size = 0;
		if (poll(&in, 1, o->size ? clock_poll_timeout(o->due) : -1) > 0)
			take(o);
		if (o->size && !o->missing && o->due <= clock_now())
			put_next(o);
	}
}

static void print_end(struct output *o) {
	const char *name = operands_get(o->operands, "stream");
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned size = 0;

	EVP_DigestFinal_ex(o->hash, digest, &size);
	printf("%s=%llu %s_sha256=", name, (unsigned long long)o->total, name);
	for (unsigned i = 0; i < size; i++)
		printf("%02x", digest[i]);
	puts("");
}

enum exit_code verb_output(const struct operands *operands) {
	static struct output o;

	o.operands = operands;
	o.backoff.max = PAUSE_MAX;
	o.kept = malloc(KEPT_MAX);
	o.hash = EVP_MD_CTX_new();
	if (!o.kept || !o.hash || EVP_DigestInit_ex(o.hash, EVP_sha256(), NULL) != 1) {
		fputs("output: no memory\n", stderr);
		return CODE_FAILED;
	}
	stream(&o);
	print_end(&o);
	http_close(&o.http);
	EVP_MD_CTX_free(o.hash);
	free(o.kept);
	return o.missing ? CODE_NETWORK : CODE_DONE;
}
