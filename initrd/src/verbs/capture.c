// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "disk/seam.h"
#include "net/api.h"
#include "node/report.h"
#include "pack/pack.h"
#include "source/prove.h"
#include "verbs/verbs.h"

#define IDLE_NS (120 * SECOND) // without a byte while the image is read back
// What is uploaded to BASE/upload/NAME.raw.zst is served at BASE/images/captured/NAME-ID.raw.zst.
#define UPLOADS "/upload/"
#define UPLOADED "/images/captured/"
#define SUFFIX ".raw.zst"
#define HEX "0123456789abcdef"

struct capture {
	const char *url; // to upload to
	const char *name;
	int base, stem;		// bytes of BASE, of NAME
	char id[UPLOAD_ID + 1]; // that the server gave to the upload
	struct packed packed;
};

static int parse_upload(const char *url, struct capture *ret, struct fault *fault) {
	const char *at = strstr(url, UPLOADS), *suffix = at ? strstr(at, SUFFIX) : NULL;

	if (!suffix || suffix[strlen(SUFFIX)])
		return fault_set(fault, CODE_USAGE, "upload: %s is not BASE" UPLOADS "NAME" SUFFIX, url);
	*ret = (struct capture){.url = url, .name = at + strlen(UPLOADS), .base = (int)(at - url)};
	ret->stem = (int)(suffix - ret->name);
	return 0;
}

// Reads the id from the name of the file in the response.
static int read_id(struct capture *capture, const char *location, struct fault *fault) {
	const char *slash = strrchr(location, '/'), *stored = slash ? slash + 1 : location, *id;

	if (strncmp(stored, capture->name, (size_t)capture->stem) != 0 || stored[capture->stem] != '-')
		id = "";
	else
		id = stored + capture->stem + 1;
	if (strspn(id, HEX) != UPLOAD_ID || strcmp(id + UPLOAD_ID, SUFFIX) != 0)
		return fault_set(fault, CODE_NETWORK,
				 "%s: the server stored it as \"%s\" (Location), want %.*s-ID" SUFFIX
				 " with an ID of %u hexadecimal digits",
				 capture->url, stored, capture->stem, capture->name, UPLOAD_ID);
	snprintf(capture->id, sizeof(capture->id), "%.*s", (int)UPLOAD_ID, id);
	return 0;
}

static const char *ca_file(void) {
	const char *ca = getenv("SLED_CA");
	return ca ? ca : DEFAULT_CA;
}

// Reads the file that SLED_TOKEN_FILE names. Without it the upload is sent without a token.
static int read_token(char **ret, struct fault *fault) {
	const char *path = getenv("SLED_TOKEN_FILE");
	int r = path ? file_read(path, TOKEN_MAX + 1, ret, NULL) : 0;

	if (r < 0)
		return fault_errno(fault, CODE_FAILED, r, "%s", path);
	if (*ret)
		(*ret)[strcspn(*ret, " \r\n")] = 0;
	return 0;
}

static int send_survey(const struct survey *survey, const struct pack_order *order, struct capture *capture,
		       struct fault *fault) {
	cleanup_with(url_free) struct url url = {0};
	cleanup_with(sink_close) struct sink *sink = NULL;
	cleanup_free char *token = NULL;
	struct progress progress = {.show = console_progress};
	int r = read_token(&token, fault);

	if (r == 0)
		r = url_parse(capture->url, &url, fault);
	if (r == 0)
		r = sink_open_upload(&url, ca_file(), token, &sink, fault);
	if (r == 0)
		r = pack_disk(survey, order, sink, &capture->packed, &progress, fault);
	return r == 0 ? read_id(capture, sink->location, fault) : r;
}

// The upload is opened once the map is complete: reading the whole disk takes longer than a server waits.
static int send_disk(const struct operands *operands, struct device *device, struct capture *capture,
		     struct fault *fault) {
	const struct pack_order order = {.level = atoi(operands_get_or(operands, "level", "3")),
					 .sector = device->sector,
					 .partition = operands_get(operands, "partition"),
					 .folder = "/tmp",
					 .drop_rest = !strcmp(operands_get_or(operands, "gaps", "keep"), "drop")};
	cleanup_with(survey_free) struct survey survey = {0};
	int r = survey_disk(device->fd, device->name, &order, &survey, fault);

	fputs(text_string(&survey.map.warnings), stderr);
	return r == 0 ? send_survey(&survey, &order, capture, fault) : r;
}

// Checks every byte of the image on the server against the one that was made here.
static int prove_upload(const struct capture *capture, struct fault *fault) {
	const struct image_trust trust = {.digest = capture->packed.digest};
	cleanup_with(urls_free) struct urls urls = {0};
	cleanup_with(source_close) struct source *source = NULL;
	cleanup_with(image_close) struct image image = {0};
	cleanup_with(text_free) struct text place = {0};
	struct progress progress = {.show = console_progress};
	int r;

	text_addf(&place, "%.*s" UPLOADED "%.*s-%s" SUFFIX, capture->base, capture->url, capture->stem, capture->name,
		  capture->id);
	r = place.failed ? fault_errno(fault, CODE_FAILED, ENOMEM, "%s", capture->url)
			 : urls_parse(text_string(&place), &urls, fault);
	if (r == 0)
		r = source_open(&urls, ca_file(), seam_idle(IDLE_NS), &source, fault);
	if (r == 0)
		source_use_token(source, getenv("SLED_TOKEN_FILE"));
	if (r == 0)
		r = image_open(source, &trust, &image, fault);
	if (r == 0)
		r = prove_file(source, &image, &progress, fault);
	return r < 0 ? fault_prefix(fault, r, "reading the upload back (%s): ", text_string(&place)) : 0;
}

enum exit_code verb_capture(const struct operands *operands) {
	cleanup_with(device_close) struct device device = {.fd = -1};
	cleanup_with(text_free) struct text list = {0};
	struct capture capture;
	struct fault fault;
	int r = parse_upload(operands_get(operands, "upload"), &capture, &fault);

	if (r == 0)
		r = device_open(operands_get(operands, "disk"), operands_get(operands, "keep"), &device, &list, &fault);
	if (r < 0)
		fputs(text_string(&list), stderr);
	if (r == 0)
		r = send_disk(operands, &device, &capture, &fault);
	if (r == 0)
		r = prove_upload(&capture, &fault);
	if (r < 0)
		return fault_print(&fault, "capture");
	printf("image digest=%s bytes=%llu file_bytes=%llu upload=%s\n", capture.packed.digest,
	       (unsigned long long)capture.packed.bytes, (unsigned long long)capture.packed.file_bytes, capture.id);
	return CODE_DONE;
}
