// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "disk/seam.h"
#include "net/api.h"
#include "pack/pack.h"
#include "source/prove.h"
#include "verbs/verbs.h"

#define IDLE_NS (120 * SECOND) // without a byte while the image is read back
#define UPLOADS "/upload/"
#define UPLOADED "/images/captured/" // where a boot server serves what was uploaded to /upload/

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

static int send_survey(const struct operands *operands, const struct survey *survey, const struct pack_order *order,
		       struct packed *ret, struct fault *fault) {
	cleanup_with(url_free) struct url url = {0};
	cleanup_with(sink_close) struct sink *sink = NULL;
	cleanup_free char *token = NULL;
	struct progress progress = {.show = console_progress};
	int r = read_token(&token, fault);

	if (r == 0)
		r = url_parse(operands_get(operands, "upload"), &url, fault);
	if (r == 0)
		r = sink_open_upload(&url, ca_file(), token, &sink, fault);
	return r == 0 ? pack_disk(survey, order, sink, ret, &progress, fault) : r;
}

// The upload is opened once the map is complete: reading the whole disk takes longer than a server waits.
static int send_disk(const struct operands *operands, struct device *device, struct packed *ret, struct fault *fault) {
	const struct pack_order order = {.level = atoi(operands_get_or(operands, "level", "3")),
					 .sector = device->sector,
					 .folder = "/tmp",
					 .drop_rest = !strcmp(operands_get_or(operands, "gaps", "keep"), "drop")};
	cleanup_with(survey_free) struct survey survey = {0};
	int r = survey_disk(device->fd, device->name, &order, &survey, fault);

	fputs(text_string(&survey.map.warnings), stderr);
	return r == 0 ? send_survey(operands, &survey, &order, ret, fault) : r;
}

// The URL from which the upload can be read.
static char *place_of(const char *upload) {
	const char *at = strstr(upload, UPLOADS);
	char *place = NULL;

	if (!at)
		return strdup(upload);
	return asprintf(&place, "%.*s" UPLOADED "%s", (int)(at - upload), upload, at + strlen(UPLOADS)) < 0 ? NULL
													    : place;
}

// Checks every byte of the image on the server against the one that was made here.
static int prove_upload(const char *upload, const struct packed *packed, struct fault *fault) {
	const struct image_trust trust = {.digest = packed->digest};
	cleanup_with(urls_free) struct urls urls = {0};
	cleanup_with(source_close) struct source *source = NULL;
	cleanup_with(image_close) struct image image = {0};
	cleanup_free char *place = place_of(upload);
	struct progress progress = {.show = console_progress};
	int r = place ? urls_parse(place, &urls, fault) : fault_errno(fault, CODE_FAILED, ENOMEM, "%s", upload);

	if (r == 0)
		r = source_open(&urls, ca_file(), seam_idle(IDLE_NS), &source, fault);
	if (r == 0)
		source_use_token(source, getenv("SLED_TOKEN_FILE"));
	if (r == 0)
		r = image_open(source, &trust, &image, fault);
	if (r == 0)
		r = prove_file(source, &image, &progress, fault);
	return r < 0 ? fault_prefix(fault, r, "reading the upload back (%s): ", place ? place : upload) : 0;
}

static int capture(const struct operands *operands, struct device *device, struct packed *packed, struct fault *fault) {
	int r = send_disk(operands, device, packed, fault);

	return r == 0 ? prove_upload(operands_get(operands, "upload"), packed, fault) : r;
}

enum exit_code verb_capture(const struct operands *operands) {
	cleanup_with(device_close) struct device device = {.fd = -1};
	cleanup_with(text_free) struct text list = {0};
	struct packed packed = {0};
	struct fault fault;
	int r = device_open(operands_get(operands, "disk"), operands_get(operands, "keep"), &device, &list, &fault);

	if (r < 0)
		fputs(text_string(&list), stderr);
	else
		r = capture(operands, &device, &packed, &fault);
	if (r < 0)
		return fault_print(&fault, "capture");
	printf("image digest=%s bytes=%llu file_bytes=%llu\n", packed.digest, (unsigned long long)packed.bytes,
	       (unsigned long long)packed.file_bytes);
	return CODE_DONE;
}
