// SPDX-License-Identifier: Apache-2.0
#include "net/url.h"

#include <errno.h>
#include <http_parser.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static int refuse(const char *text, const char *why, struct fault *fault) {
	return fault_set(fault, CODE_USAGE, "\"%.200s\" is not a URL: %s", text, why);
}

static int take(const struct http_parser_url *parts, const char *text, enum http_parser_url_fields field, char **ret) {
	size_t size = parts->field_set & (1u << field) ? parts->field_data[field].len : 0;
	*ret = strndup(text + parts->field_data[field].off, size);
	return *ret ? 0 : -ENOMEM;
}

// Path and query as in the request line; they are adjacent in the text.
static char *request_target(const struct http_parser_url *parts, const char *text) {
	bool has_path = parts->field_set & (1u << UF_PATH), has_query = parts->field_set & (1u << UF_QUERY);
	char *target = NULL;

	if (asprintf(&target, "%.*s%s%.*s", has_path ? parts->field_data[UF_PATH].len : 1,
		     has_path ? text + parts->field_data[UF_PATH].off : "/", has_query ? "?" : "",
		     has_query ? parts->field_data[UF_QUERY].len : 0,
		     has_query ? text + parts->field_data[UF_QUERY].off : "") < 0)
		return NULL;
	return target;
}

static int parse_network(const char *text, struct url *url, struct fault *fault) {
	struct http_parser_url parts;

	http_parser_url_init(&parts);
	if (http_parser_parse_url(text, strlen(text), 0, &parts) != 0 || !(parts.field_set & (1u << UF_HOST)) ||
	    parts.field_data[UF_HOST].len == 0)
		return refuse(text, "it must have the form http://name/path", fault);
	if (parts.field_set & (1u << UF_USERINFO | 1u << UF_FRAGMENT))
		return refuse(text, "no user name or fragment is allowed", fault);
	if (take(&parts, text, UF_HOST, &url->host) < 0 || !(url->path = request_target(&parts, text)))
		return fault_errno(fault, CODE_FAILED, ENOMEM, "URL");
	url->port = parts.field_set & (1u << UF_PORT) ? parts.port : url->scheme == SCHEME_HTTPS ? 443 : 80;
	if (url->port == 0)
		return refuse(text, "the port is 0", fault);
	return 0;
}

static int parse_into(const char *text, struct url *url, struct fault *fault) {
	for (const char *c = text; *c; c++)
		if (*c <= ' ' || *c >= 0x7f)
			return refuse(text, "only printable ASCII without spaces is allowed", fault);
	if (!(url->text = strdup(text)))
		return fault_errno(fault, CODE_FAILED, ENOMEM, "URL");
	if (!strncmp(text, "file:///", 8)) {
		url->scheme = SCHEME_FILE;
		url->host = strdup("");
		url->path = strdup(text + 7);
		return url->host && url->path ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "URL");
	}
	if (!strncmp(text, "https://", 8))
		url->scheme = SCHEME_HTTPS;
	else if (!strncmp(text, "http://", 7))
		url->scheme = SCHEME_HTTP;
	else
		return refuse(text, "it must begin with http://, https:// or file:///", fault);
	return parse_network(text, url, fault);
}

int url_parse(const char *text, struct url *ret, struct fault *fault) {
	struct url url = {0};
	int r = parse_into(text, &url, fault);
	if (r < 0)
		url_free(&url);
	else
		*ret = url;
	return r;
}

void url_free(struct url *url) {
	free(url->text);
	free(url->host);
	free(url->path);
	*url = (struct url){0};
}

int urls_parse(const char *text, struct urls *ret, struct fault *fault) {
	cleanup_free char *copy = strdup(text);
	char *rest = copy, *one;

	*ret = (struct urls){0};
	if (!copy)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "URL");
	while ((one = strsep(&rest, ","))) {
		int r;
		if (ret->count == URLS_MAX)
			return fault_set(fault, CODE_USAGE, "more than %u URLs", URLS_MAX);
		r = url_parse(one, &ret->items[ret->count], fault);
		if (r < 0)
			return r;
		ret->count++;
	}
	return 0;
}

void urls_free(struct urls *urls) {
	while (urls->count)
		url_free(&urls->items[--urls->count]);
}

bool url_is_loopback(const struct url *url) {
	return (!strncmp(url->host, "127.", 4) && strspn(url->host, "0123456789.") == strlen(url->host)) ||
	       !strcmp(url->host, "::1") || !strcmp(url->host, "localhost");
}
