// SPDX-License-Identifier: Apache-2.0
#include "net/api.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"

#define CONNECT_NS (5 * SECOND)
#define CONNECT_ONE_NS (2 * SECOND) // if there is another server: one SYN may be lost
#define PAUSE_MAX (10 * SECOND)
#define WITHHELD_PAUSE 10u // seconds, if the server names none
#define WITHHELD_PAUSE_MAX 30u

// The token is a secret: it is sent over TLS, or within this machine.
static int check_servers(const struct urls *servers, struct fault *fault) {
	for (size_t i = 0; i < servers->count; i++) {
		const struct url *url = &servers->items[i];
		if (url->scheme != SCHEME_HTTPS && !(url->scheme == SCHEME_HTTP && url_is_loopback(url)))
			return fault_set(fault, CODE_USAGE, "servers: %s would send the token unencrypted: use https",
					 url->text);
	}
	return 0;
}

// Accepts only bytes that a header may contain. `where` is for the fault, which never shows the token.
static int take_token(const char *where, const char *text, char ret[TOKEN_MAX + 1], struct fault *fault) {
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=";
	size_t n = strcspn(text, " \t\r\n");

	if (n == 0 || n > TOKEN_MAX || strspn(text, allowed) < n)
		return fault_set(fault, CODE_FAILED, "%s holds no token", where);
	snprintf(ret, TOKEN_MAX + 1, "%.*s", (int)n, text);
	return 0;
}

int api_read_token(const char *path, char ret[TOKEN_MAX + 1], struct fault *fault) {
	cleanup_free char *text = NULL;
	int r = file_read(path, 4096, &text, NULL);

	return r < 0 ? fault_errno(fault, CODE_FAILED, r, "token: %s", path) : take_token(path, text, ret, fault);
}

bool api_has_claim(const struct api *api) { return !strncmp(api->token, CLAIM_TOKEN, strlen(CLAIM_TOKEN)); }

// The server that a machine calls first is chosen by its MAC, so that the machines of a site spread over all.
static size_t first_server(const char *mac, size_t count) {
	uint32_t hash = 2166136261u; // FNV-1a

	for (; *mac; mac++)
		hash = (hash ^ (unsigned char)*mac) * 16777619u;
	return count ? hash % count : 0;
}

// Each verb is a separate process: the server that answered is in a file beside the token.
static int answered_file(const struct api *api, char **ret) {
	return asprintf(ret, "%s.server", api->token_file) < 0 ? -ENOMEM : 0;
}

static void recall_server(struct api *api) {
	cleanup_free char *path = NULL, *text = NULL;

	if (answered_file(api, &path) < 0 || file_read(path, 4096, &text, NULL) < 0)
		return;
	for (size_t i = 0; i < api->servers.count; i++)
		if (!strcmp(api->servers.items[i].text, text))
			api->server = api->answered = i;
}

// If this fails, the next verb starts at another server, which costs time alone.
static void keep_server(struct api *api) {
	cleanup_free char *path = NULL;
	const char *text = api->servers.items[api->server].text;

	if (!api->token_file || api->server == api->answered || answered_file(api, &path) < 0)
		return;
	if (file_write_atomic(path, 0600, text, strlen(text)) == 0)
		api->answered = api->server;
}

static int open_common(const char *servers, const char *mac, const char *ca, struct api *ret, struct fault *fault) {
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->ca = ca;
	snprintf(ret->mac, sizeof(ret->mac), "%s", mac);
	for (char *c = ret->mac; *c; c++)
		if (*c == ':')
			*c = '-';
	r = urls_parse(servers, &ret->servers, fault);
	if (r == 0)
		r = check_servers(&ret->servers, fault);
	ret->server = ret->answered = first_server(ret->mac, ret->servers.count);
	return r;
}

int api_open(const struct operands *operands, struct api *ret, struct fault *fault) {
	int r = open_common(operands_get(operands, "servers"), operands_get(operands, "mac"),
			    operands_get_or(operands, "ca", DEFAULT_CA), ret, fault);
	ret->token_file = operands_get(operands, "token");
	if (r == 0)
		recall_server(ret);
	return r;
}

int api_open_with(const char *servers, const char *mac, const char *token, const char *ca, struct api *ret,
		  struct fault *fault) {
	int r = open_common(servers, mac, ca, ret, fault);
	if (r == 0)
		r = take_token("token", token, ret->token, fault);
	return r;
}

void api_close(struct api *api) {
	http_close(&api->http);
	urls_free(&api->servers);
}

// Reads the file for each request: another verb may have stored a newer token.
static int read_token(struct api *api, struct fault *fault) {
	return api->token_file ? api_read_token(api->token_file, api->token, fault) : 0;
}

static int keep_token(struct api *api, const char *token, struct fault *fault) {
	int r = 0;

	if (!*token || !strcmp(token, api->token))
		return 0;
	snprintf(api->token, sizeof(api->token), "%s", token);
	if (api->token_file)
		r = file_write_atomic(api->token_file, 0600, token, strlen(token));
	return r < 0 ? fault_errno(fault, CODE_FAILED, r, "token: %s", api->token_file) : 0;
}

static int call_url(const struct api *api, const char *path, struct url *ret, struct fault *fault) {
	const char *base = api->servers.items[api->server].text;
	cleanup_free char *text = NULL;
	int n = (int)strlen(base);

	while (n > 0 && base[n - 1] == '/')
		n--;
	if (asprintf(&text, "%.*s/node/v1/%s/%s", n, base, api->mac, path) < 0)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "URL");
	return url_parse(text, ret, fault);
}

static int call_once(struct api *api, const struct call *call, struct head *ret, char **ret_body, size_t *ret_size,
		     struct fault *fault) {
	cleanup_with(url_free) struct url url = {0};
	struct request request = {
		.method = call->method,
		.url = &url,
		.ca = api->ca,
		.token = !call->bearer	 ? api->token
			 : *call->bearer ? call->bearer
					 : NULL,
		.body = call->body,
		.body_size = call->body_size,
		.connect_ns = api->servers.count > 1 ? CONNECT_ONE_NS : CONNECT_NS,
		.answer_ns = call->answer_ns,
		.idle_ns = call->answer_ns,
	};
	int r = call->bearer ? 0 : read_token(api, fault);

	if (r == 0)
		r = call_url(api, call->path, &url, fault);
	if (r == 0)
		r = http_send(&api->http, &request, ret, fault);
	if (r == 0)
		r = http_body_all(&api->http, call->answer_max, ret_body, ret_size, fault);
	return r == 0 ? keep_token(api, ret->token, fault) : r;
}

static int64_t withheld_pause(const struct head *head) {
	unsigned seconds = head->has_retry ? head->retry_after : WITHHELD_PAUSE;

	return (seconds < 1 ? 1 : seconds > WITHHELD_PAUSE_MAX ? WITHHELD_PAUSE_MAX : seconds) * SECOND;
}

static bool is_busy(unsigned status) { return status >= 500 || status == 429; }

// Tries each server once. 0: one of them responded.
static int call_all(struct api *api, const struct call *call, struct head *head, char **ret_body, size_t *ret_size,
		    struct fault *fault) {
	int r = -ENETUNREACH;

	for (size_t i = 0; i < api->servers.count; i++) {
		r = call_once(api, call, head, ret_body, ret_size, fault);
		if (r == 0 && !is_busy(head->status)) {
			keep_server(api);
			return 0;
		}
		if (r == 0) {
			r = api_refused(head->status, *ret_body, fault);
			free(*ret_body);
			*ret_body = NULL;
		} else if (fault->code != CODE_NETWORK) {
			return r;
		}
		api->server = (api->server + 1) % api->servers.count;
	}
	return r;
}

int api_call(struct api *api, const struct call *call, unsigned *ret_status, char **ret_body, size_t *ret_size,
	     struct fault *fault) {
	struct backoff backoff = {.max = PAUSE_MAX};

	for (;;) {
		struct head head = {0};
		char *body = NULL;
		size_t size = 0;
		int64_t next;
		int r = call_all(api, call, &head, &body, &size, fault);
		api->retry_ns = head.has_retry ? head.retry_after * SECOND : 0;
		if (r == 0) {
			api->withheld_ns = withheld_pause(&head);
			*ret_status = head.status;
			*ret_body = body;
			if (ret_size)
				*ret_size = size;
			return 0;
		}
		next = clock_now() + backoff_next(&backoff);
		if (api->retry_ns && clock_now() + api->retry_ns > next)
			next = clock_now() + api->retry_ns + clock_chance(SECOND);
		if (fault->code != CODE_NETWORK || next >= call->give_up)
			return r;
		clock_wait_until(next);
	}
}

// The message of a problem+json response: its "detail", found without a JSON parser; else the first line of the body.
static void server_words(const char *body, char *ret, size_t size) {
	const char *detail = strstr(body, "\"detail\":\"");

	if (detail) {
		detail += strlen("\"detail\":\"");
		snprintf(ret, size, "%.*s", (int)strcspn(detail, "\""), detail);
	} else {
		snprintf(ret, size, "%.*s", (int)strcspn(body, "\r\n"), body);
	}
	for (char *c = ret; *c; c++)
		if (*c < ' ' || *c >= 0x7f)
			*c = '?';
}

int api_refused(unsigned status, const char *body, struct fault *fault) {
	const char *meaning = status == 401	   ? "token refused"
			      : status == 403	   ? "the token belongs to another node or an older generation"
			      : status == WITHHELD ? "withheld"
						   : NULL;
	char words[200];

	server_words(body ? body : "", words, sizeof(words));
	if (meaning)
		return fault_set(fault, CODE_NETWORK, "%s (%u)%s%s", meaning, status, *words ? ": " : "", words);
	return fault_set(fault, CODE_NETWORK, "the server responded with status %u%s%s", status, *words ? ": " : "",
			 words);
}
