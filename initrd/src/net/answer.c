// SPDX-License-Identifier: Apache-2.0
#include "net/answer.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"

// "bytes 100-199/1000", "bytes 100-199/*"
static void read_range(struct head *head, const char *value) {
	char from[24], to[24], total[24];
	int end = 0;

	head->has_range = head->has_total = false;
	if (sscanf(value, "bytes %23[0-9]-%23[0-9]/%23[0-9*]%n", from, to, total, &end) != 3 || value[end] ||
	    number_parse(from, NUMBER_MAX, &head->range_from) < 0 ||
	    number_parse(to, NUMBER_MAX, &head->range_last) < 0)
		return;
	head->has_total = number_parse(total, NUMBER_MAX, &head->total) == 0;
	head->has_range = head->range_last >= head->range_from && (!head->has_total || head->range_last < head->total);
}

static void read_header(struct answer *answer) {
	struct head *head = &answer->head;
	uint64_t n;

	if (!strcasecmp(answer->field, "sled-token") && answer->value_size <= TOKEN_MAX)
		snprintf(head->token, sizeof(head->token), "%.*s", (int)TOKEN_MAX, answer->value);
	else if (!strcasecmp(answer->field, "location") && answer->value_size <= LOCATION_MAX)
		snprintf(head->location, sizeof(head->location), "%.*s", (int)LOCATION_MAX, answer->value);
	else if (!strcasecmp(answer->field, "content-range"))
		read_range(head, answer->value);
	else if (!strcasecmp(answer->field, "content-encoding"))
		head->is_encoded = strcasecmp(answer->value, "identity") != 0;
	else if (!strcasecmp(answer->field, "retry-after") && number_parse(answer->value, 86400, &n) == 0) {
		head->has_retry = true;
		head->retry_after = (unsigned)n;
	}
}

static void end_header(struct answer *answer) {
	read_header(answer);
	answer->field_size = answer->value_size = 0;
	answer->field[0] = answer->value[0] = 0;
	answer->in_value = false;
}

static int on_field(http_parser *parser, const char *at, size_t size) {
	struct answer *answer = parser->data;

	if (answer->in_value)
		end_header(answer);
	// A name that is too long is of no interest: it stays too long to match.
	for (size_t i = 0; i < size && answer->field_size < sizeof(answer->field) - 1; i++)
		answer->field[answer->field_size++] = at[i];
	answer->field[answer->field_size] = 0;
	return 0;
}

static int on_value(http_parser *parser, const char *at, size_t size) {
	struct answer *answer = parser->data;

	answer->in_value = true;
	for (size_t i = 0; i < size && answer->value_size < sizeof(answer->value) - 1; i++)
		answer->value[answer->value_size++] = at[i];
	answer->value[answer->value_size] = 0;
	return 0;
}

// 1xx responses come before the final one: the parser continues by itself.
static int on_headers(http_parser *parser) {
	struct answer *answer = parser->data;

	if (answer->in_value)
		end_header(answer);
	if (parser->status_code < 200)
		memset(&answer->head, 0, sizeof(answer->head)); // of the 1xx response
	answer->head.status = parser->status_code;
	if (parser->status_code < 200)
		return 0;
	answer->head.has_length = parser->content_length != UINT64_MAX && !(parser->flags & F_CHUNKED);
	answer->head.length = answer->head.has_length ? parser->content_length : 0;
	answer->head_done = true;
	http_parser_pause(parser, 1);
	return 0;
}

static int on_body(http_parser *parser, const char *at, size_t size) {
	struct answer *answer = parser->data;

	answer->body = at;
	answer->body_size = size;
	http_parser_pause(parser, 1);
	return 0;
}

static int on_complete(http_parser *parser) {
	struct answer *answer = parser->data;

	if (parser->status_code < 200)
		return 0;
	answer->body_done = true;
	http_parser_pause(parser, 1);
	return 0;
}

void answer_begin(struct answer *answer) {
	memset(answer, 0, sizeof(*answer));
	http_parser_init(&answer->parser, HTTP_RESPONSE);
	answer->parser.data = answer;
}

int answer_feed(struct answer *answer, const char *data, size_t size, size_t *ret_taken, struct fault *fault) {
	static const http_parser_settings settings = {
		.on_header_field = on_field,
		.on_header_value = on_value,
		.on_headers_complete = on_headers,
		.on_body = on_body,
		.on_message_complete = on_complete,
	};
	enum http_errno error;
	size_t taken;

	answer->body = NULL;
	answer->body_size = 0;
	*ret_taken = 0;
	if (answer->body_done)
		return 0;
	http_parser_pause(&answer->parser, 0);
	taken = http_parser_execute(&answer->parser, &settings, data, size);
	error = HTTP_PARSER_ERRNO(&answer->parser);
	if (size == 0 && !answer->body_done)
		return fault_set(fault, CODE_NETWORK, "the server closed the connection");
	if (error != HPE_OK && error != HPE_PAUSED)
		return fault_set(fault, CODE_NETWORK, "the response is not HTTP: %s", http_errno_description(error));
	*ret_taken = taken;
	return 0;
}

uint64_t answer_left(const struct answer *answer) {
	return answer->head.has_length && !answer->body_done ? answer->parser.content_length : 0;
}

bool answer_keeps_alive(const struct answer *answer) {
	return answer->body_done && http_should_keep_alive(&answer->parser);
}
