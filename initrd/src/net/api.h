// SPDX-License-Identifier: Apache-2.0
// Requests of a node to sledd (contract/plan.md, report.md): several servers, tried in order from one that
// the MAC chooses, or that answered last; a token that sledd renews.
#pragma once

#include "base/operand.h"
#include "net/http.h"

#define DEFAULT_CA "/etc/sled/ca.crt"
#define CLAIM_TOKEN "sledc_"		 // how the token of a claim starts: contract/admission.md
#define WITHHELD 409u			 // status of a request that is withheld: contract/admission.md, Rights
#define WITHHELD_NS (24 * 3600 * SECOND) // how long such a request is repeated

// The operands of every verb that sends requests to sledd, for its table of rules.
#define API_RULES                                                                                            \
	{"servers", true, "base URLs of sledd, joined by , and tried in turn", NULL, check_urls},            \
		{"mac", true, "MAC address that identifies the node", NULL, check_mac},                      \
		{"token", true, "file with the boot token; a renewed token is written to it", NULL, NULL}, { \
		"ca", false, "file with CA certificates (default " DEFAULT_CA ")", NULL, NULL                \
	}

struct api {
	struct urls servers;
	char mac[18];		// with hyphens
	const char *token_file; // NULL: the token is fixed
	char token[TOKEN_MAX + 1];
	const char *ca;
	size_t server;	     // that is called
	size_t answered;     // that a later verb calls first
	int64_t withheld_ns; // how long to wait before a withheld request is repeated
	int64_t retry_ns;    // Retry-After of the last response; 0: none
	struct http http;
};

struct call {
	const char *method, *path; // below /node/v1/<mac>/
	const void *body;
	size_t body_size;
	size_t answer_max;  // longest body that is accepted
	int64_t answer_ns;  // how long the server may take to respond
	int64_t give_up;    // deadline for retries over all servers; at least one pass is made
	const char *bearer; // sent instead of the token; "": none; NULL: the token
};

// From the operands servers= mac= token= ca=, which must outlive it.
int api_open(const struct operands *operands, struct api *ret, struct fault *fault);

// The same from single values; `token` is the token, not its file.
int api_open_with(const char *servers, const char *mac, const char *token, const char *ca, struct api *ret,
		  struct fault *fault);
void api_close(struct api *api);

// Reads the token in a file and checks it. Returns -ENOENT if there is no such file.
int api_read_token(const char *path, char ret[TOKEN_MAX + 1], struct fault *fault);

// Returns whether the newest token is that of a claim, which is not admitted.
bool api_has_claim(const struct api *api);

// Any response but 5xx and 429 is final: *ret_status is set, and *ret_body must be freed. Returns an error of code 6
// if there is none.
int api_call(struct api *api, const struct call *call, unsigned *ret_status, char **ret_body, size_t *ret_size,
	     struct fault *fault);

// Returns the error for an unexpected status; the fault has the server's message if it sent one.
int api_refused(unsigned status, const char *body, struct fault *fault);
