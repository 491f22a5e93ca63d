// SPDX-License-Identifier: Apache-2.0
// Claims that this machine is a node (contract/admission.md). Prints nothing secret.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/number.h"
#include "net/api.h"
#include "node/claim.h"
#include "node/hello.h"
#include "verbs/verbs.h"

#define DEFAULT_TICKET "/etc/sled/ticket"

#define WAIT_MAX 600u // seconds

static int check_wait(const char *value, struct fault *fault) {
	uint64_t n;
	return number_parse(value, WAIT_MAX, &n) < 0
		       ? fault_set(fault, CODE_USAGE, "\"%s\" is not 0 to %u seconds", value, WAIT_MAX)
		       : 0;
}

const struct operand_rule hello_rules[] = {
	{"servers", true, "base URLs of sledd, joined by , and tried in turn", NULL, check_urls},
	{"mac", true, "MAC address that identifies the node", NULL, check_mac},
	{"token", true, "file for the claim token; one that it holds is sent", NULL, NULL},
	{"nic", true, "MAC address of the interface that the request leaves by", NULL, hello_check_nic},
	{"ticket", false, "file with a ticket; removed once a server has responded (default " DEFAULT_TICKET ")", NULL,
	 NULL},
	{"wait", false, "seconds to wait for a server (default 120)", NULL, check_wait},
	{"ca", false, "file with CA certificates (default " DEFAULT_CA ")", NULL, NULL},
	{"root", false, "read sysfs and procfs below this directory", NULL, NULL},
	{0},
};

struct hello {
	struct api api;
	struct text text;
	const char *ticket; // file
	int64_t give_up;
	char bearer[TOKEN_MAX + 1]; // "": none
	unsigned status;
	char *body;
	size_t size;
};

static void hello_free(struct hello *hello) {
	api_close(&hello->api);
	text_free(&hello->text);
	free(hello->body);
}

// The ticket, else the token of a claim that this boot made before, else nothing.
static void choose_bearer(struct hello *hello) {
	struct fault fault;
	int r = api_read_token(hello->ticket, hello->bearer, &fault);

	if (r == 0)
		return;
	if (r != -ENOENT) {
		fault_print(&fault, "hello");
		(void)unlink(hello->ticket);
	}
	if (api_read_token(hello->api.token_file, hello->bearer, &fault) < 0 ||
	    strncmp(hello->bearer, CLAIM_TOKEN, strlen(CLAIM_TOKEN)) != 0)
		hello->bearer[0] = 0;
}

static int post(struct hello *hello, struct fault *fault) {
	struct call call = {
		.method = "POST",
		.path = "hello",
		.body = hello->text.data,
		.body_size = hello->text.size,
		.answer_max = CLAIM_BYTES_MAX,
		.answer_ns = 15 * SECOND,
		.give_up = hello->give_up,
		.bearer = hello->bearer,
	};

	free(steal_pointer(&hello->body));
	return api_call(&hello->api, &call, &hello->status, &hello->body, &hello->size, fault);
}

// A ticket or a claim token that a server refuses is dropped: the claim is then made without it.
static int exchange(struct hello *hello, struct fault *fault) {
	int r = post(hello, fault);

	if (r == 0 && *hello->bearer && (hello->status == 401 || hello->status == 403)) {
		api_refused(hello->status, hello->body, fault);
		fault_print(fault, strncmp(hello->bearer, CLAIM_TOKEN, strlen(CLAIM_TOKEN)) ? "hello: ticket"
											    : "hello: claim");
		(void)unlink(hello->ticket);
		hello->bearer[0] = 0;
		r = post(hello, fault);
	}
	return r;
}

// The response repeats no token for a claim that this boot made before.
static int check_token(const struct hello *hello, struct fault *fault) {
	bool before = !*hello->api.token && !strncmp(hello->bearer, CLAIM_TOKEN, strlen(CLAIM_TOKEN));

	return before || api_has_claim(&hello->api) ? 0
						    : fault_set(fault, CODE_NETWORK, "the server sent no claim token");
}

static int take_claim(struct hello *hello, struct fault *fault) {
	struct claim claim;
	int r;

	if (hello->status != 200) {
		puts("refused");
		return api_refused(hello->status, hello->body, fault);
	}
	(void)unlink(hello->ticket); // a ticket serves one boot
	r = claim_parse(hello->body, hello->size, &claim, fault);
	if (r == 0)
		r = check_token(hello, fault);
	if (r < 0)
		return r;
	printf("claim %s\n", claim.code);
	if (*claim.want)
		printf("level %s: waiting for %s\n", claim.level, claim.want);
	return 0;
}

enum exit_code verb_hello(const struct operands *operands) {
	cleanup_with(hello_free) struct hello hello = {0};
	struct fault fault;
	uint64_t wait = 0;
	int r = api_open(operands, &hello.api, &fault);

	(void)number_parse(operands_get_or(operands, "wait", "120"), WAIT_MAX, &wait);
	hello.give_up = clock_now() + (int64_t)wait * SECOND;
	hello.ticket = operands_get_or(operands, "ticket", DEFAULT_TICKET);
	if (r == 0)
		r = hello_write(operands_get_or(operands, "root", ""), operands_get(operands, "nic"), &hello.text,
				&fault);
	if (r == 0) {
		choose_bearer(&hello);
		r = exchange(&hello, &fault);
	}
	if (r == 0)
		r = take_claim(&hello, &fault);
	return r < 0 ? fault_print(&fault, "hello") : CODE_DONE;
}
