// SPDX-License-Identifier: Apache-2.0
// A file of the boot server, over TLS.
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "net/api.h"
#include "verbs/verbs.h"

#define ANSWER_NS (30 * SECOND)

const struct operand_rule download_rules[] = {
	{"url", true, "https URLs of the file, joined by , and tried in order", NULL, check_urls},
	{"out", true, "file that is written", NULL, NULL},
	{"ca", false, "file with CA certificates (default " DEFAULT_CA ")", NULL, NULL},
	{0},
};

static int receive(struct http *http, const struct head *head, int fd, struct fault *fault) {
	const char *data;
	size_t size;

	if (head->status != 200)
		return fault_set(fault, CODE_NETWORK, "the server answered %u", head->status);
	for (;;) {
		int r = http_body(http, &data, &size, fault);

		if (r < 0 || size == 0)
			return r;
		r = file_write_fd(fd, data, size);
		if (r < 0)
			return fault_errno(fault, CODE_FAILED, r, "write");
	}
}

static int download(struct http *http, const struct url *url, const struct operands *operands, struct fault *fault) {
	struct request request = {
		.method = "GET",
		.url = url,
		.ca = operands_get_or(operands, "ca", DEFAULT_CA),
		.connect_ns = 5 * SECOND,
		.answer_ns = ANSWER_NS,
		.idle_ns = ANSWER_NS,
	};
	const char *out = operands_get(operands, "out");
	struct head head;
	int r, fd;

	if (url->scheme != SCHEME_HTTPS)
		return fault_set(fault, CODE_USAGE, "%s is not an https URL", url->text);
	fd = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_errno(fault, CODE_FAILED, -errno, "%s", out);
	r = http_send(http, &request, &head, fault);
	if (r == 0)
		r = receive(http, &head, fd, fault);
	if (close(fd) < 0 && r == 0)
		r = fault_errno(fault, CODE_FAILED, -errno, "%s", out);
	http_close(http);
	return r < 0 ? fault_prefix(fault, r, "%s: ", url->text) : 0;
}

enum exit_code verb_download(const struct operands *operands) {
	cleanup_with(urls_free) struct urls urls = {0};
	static struct http http;
	struct fault fault;
	int r = urls_parse(operands_get(operands, "url"), &urls, &fault);

	for (size_t i = 0; i < urls.count; i++) {
		r = download(&http, &urls.items[i], operands, &fault);
		if (r == 0)
			return CODE_DONE;
		fault_print(&fault, "download");
	}
	return r < 0 ? fault.code : CODE_DONE;
}
