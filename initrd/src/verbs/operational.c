// SPDX-License-Identifier: Apache-2.0
// Runs once, in the installed system.
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "disk/sysfs.h"
#include "net/api.h"
#include "node/os.h"
#include "verbs/verbs.h"

#define GIVE_UP_NS (1800 * SECOND)
#define LACKS_MAX 512u // bytes: sledd takes no longer text

const struct operand_rule operational_rules[] = {
	{"from", false, "file of the seed that holds the next four operands", NULL, NULL},
	{"server", false, "base URLs of sledd, joined by ,", NULL, check_urls},
	{"mac", false, "MAC address that identifies the node", NULL, check_mac},
	{"generation", false, "generation that was installed", NULL, check_number},
	{"token", false, "the token", NULL, NULL},
	{"ca", false, "file with CA certificates (default " DEFAULT_CA ")", NULL, NULL},
	{"lacks", false, "file with what of its seed is not in use, a line for each", NULL, NULL},
	{"root", false, "read the system's files below this directory", NULL, NULL},
	{0},
};

static const struct operand_rule line_rules[] = {
	{"server", true, "", NULL, check_urls},
	{"mac", true, "", NULL, check_mac},
	{"generation", true, "", NULL, check_number},
	{"token", true, "", NULL, NULL},
	{0},
};

static int read_line(const char *path, struct operands *ret, struct fault *fault) {
	cleanup_free char *line = NULL;
	int r = file_read(path, LINE_MAX_BYTES, &line, NULL);

	if (r < 0)
		return fault_errno(fault, CODE_FAILED, r, "%s", path);
	r = operands_parse(line, strcspn(line, "\n"), ret, fault);
	if (r == 0 && strcmp(ret->verb, "operational"))
		r = fault_set(fault, CODE_USAGE, "the first word is \"%s\", not \"operational\"", ret->verb);
	if (r == 0)
		r = operands_check(ret, line_rules, fault);
	return r < 0 ? fault_prefix(fault, r, "%s: ", path) : 0;
}

static int post(struct api *api, const struct text *text, struct fault *fault) {
	struct call call = {
		.method = "POST",
		.path = "operational",
		.body = text->data,
		.body_size = text->size,
		.answer_max = 4096,
		.answer_ns = 15 * SECOND,
		.give_up = clock_now() + GIVE_UP_NS,
	};
	cleanup_free char *answer = NULL;
	unsigned status;
	int r = api_call(api, &call, &status, &answer, NULL, fault);

	if (r < 0)
		return r;
	return status == 204 || status == 200 ? 0 : api_refused(status, answer, fault);
}

// The lines of a file, joined by "; ".
static int read_lacks(const char *path, char ret[LACKS_MAX + 1], struct fault *fault) {
	cleanup_free char *lines = NULL;
	size_t at = 0;
	int r = path ? file_read(path, LINE_MAX_BYTES, &lines, NULL) : 0;

	if (r < 0)
		return fault_errno(fault, CODE_FAILED, r, "%s", path);
	for (const char *c = lines; c && *c && at < LACKS_MAX - 1; c++) {
		if (*c != '\n')
			ret[at++] = *c;
		else if (c[1]) {
			ret[at++] = ';';
			ret[at++] = ' ';
		}
	}
	ret[at] = 0;
	sysfs_clean(ret);
	return 0;
}

static int confirm(const struct operands *line, const char *ca, const char *lacks, const char *root,
		   struct fault *fault) {
	cleanup_with(api_close) struct api api = {0};
	cleanup_with(text_free) struct text text = {0};
	int r = api_open_with(operands_get(line, "server"), operands_get(line, "mac"), operands_get(line, "token"), ca,
			      &api, fault);

	if (r == 0)
		r = os_describe(root, operands_get(line, "generation"), lacks, &text, fault);
	return r == 0 ? post(&api, &text, fault) : r;
}

enum exit_code verb_operational(const struct operands *operands) {
	const char *from = operands_get(operands, "from"), *ca = operands_get_or(operands, "ca", DEFAULT_CA);
	const char *root = operands_get_or(operands, "root", "");
	cleanup_with(operands_free) struct operands line = {0};
	char lacks[LACKS_MAX + 1];
	struct fault fault;
	int r = from ? read_line(from, &line, &fault) : 0;

	if (!from && (!operands_get(operands, "server") || !operands_get(operands, "mac") ||
		      !operands_get(operands, "generation") || !operands_get(operands, "token")))
		r = fault_set(&fault, CODE_USAGE, "needs from=, or server= mac= generation= and token=");
	if (r == 0)
		r = read_lacks(operands_get(operands, "lacks"), lacks, &fault);
	if (r == 0)
		r = confirm(from ? &line : operands, ca, lacks, root, &fault);
	return r < 0 ? fault_print(&fault, "operational") : CODE_DONE;
}
