// SPDX-License-Identifier: Apache-2.0
// The node's side of sledd (contract/plan.md, report.md): several servers tried in turn, a token that may be renewed.
#pragma once

#include "base/operand.h"
#include "net/http.h"

#define DEFAULT_CA "/etc/sled/ca.crt"

// Operands that every verb which talks to sledd has, for its table of rules.
#define API_RULES \
	{"servers", true, "base URLs of sledd, joined by , and tried in turn", NULL, check_urls}, \
	{"mac", true, "MAC that the node is known by", NULL, check_mac}, \
	{"token", true, "file that holds the boot token; a renewed one is stored there", NULL, NULL}, \
	{"ca", false, "file of CA certificates (" DEFAULT_CA ")", NULL, NULL}

struct api {
	struct urls servers;
	char mac[18];		// with hyphens
	const char *token_file; // NULL: `token` is given
	char token[TOKEN_MAX + 1];
	const char *ca;
	size_t server; // that answered last
	struct http http;
};

struct call {
	const char *method, *path; // below /node/v1/<mac>/
	const void *body;
	size_t body_size;
	size_t answer_max;  // longest body taken
	int64_t answer_ns; // how long the server may think
	int64_t give_up;   // deadline for tries, over all servers; at least one pass is made
};

// From operands servers= mac= token= ca=, which must outlive it.
int api_open(const struct operands *operands, struct api *ret, struct fault *fault);

// The same from single values; `token` is the token itself.
int api_open_with(const char *servers, const char *mac, const char *token, const char *ca, struct api *ret,
		  struct fault *fault);
void api_close(struct api *api);

// Any answer but 5xx and 429 ends it: *ret_status is filled in and *ret_body is to be freed. Code 6 when there was
// none.
int api_call(struct api *api, const struct call *call, unsigned *ret_status, char **ret_body, size_t *ret_size,
	     struct fault *fault);

// A fault for a status that is not what was hoped for, with the server's own words when it has some.
int api_refused(unsigned status, const char *body, struct fault *fault);
