// SPDX-License-Identifier: Apache-2.0
// The statement of an image and its signature. The digest is computed from the image's index, never taken from the
// caller.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/human.h"
#include "image/key.h"
#include "source/image_file.h"
#include "verbs/verbs.h"

const struct operand_rule sign_rules[] = {
	{"in", false, "image file", NULL, NULL},
	{"image", false, "instead: its URL, or several joined by ,", NULL, check_urls},
	{"name", true, "name under which the image is registered", NULL, check_image_name},
	{"line", false, "images that replace one another (default name without -v and a number)", NULL,
	 check_image_name},
	{"digest", false, "digest that the image must have", NULL, check_digest},
	{"key", true, "PEM file with the Ed25519 private key", NULL, NULL},
	{0},
};

static void date_now(char ret[DATE_BYTES + 1]) {
	time_t now = time(NULL);
	struct tm parts;

	(void)strftime(ret, DATE_BYTES + 1, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
}

// What is signed, for the person who signs.
static void print_content(const struct image_file *o) {
	char bytes[32], used[32];

	fprintf(stderr, "sign: %s: disk of %s, %s used, %u partitions:", image_file_name(o),
		human_bytes(o->image.index.bytes, bytes), human_bytes(o->image.index.used, used),
		o->image.index.partition_count);
	for (uint32_t i = 0; i < o->image.index.partition_count; i++)
		fprintf(stderr, " %s", o->image.index.partitions[i].content);
	fputs("\n", stderr);
}

static int sign(const struct operands *operands, const struct image_file *o, struct fault *fault) {
	const char *name = operands_get(operands, "name"), *line = operands_get(operands, "line");
	cleanup_with(text_free) struct text words = {0};
	char text[STATEMENT_MAX], signature_text[89];
	uint8_t signature[SIGNATURE];
	struct statement statement = {0};
	int r;

	snprintf(statement.name, sizeof(statement.name), "%s", name);
	if (line)
		snprintf(statement.line, sizeof(statement.line), "%s", line);
	else
		line_of_name(name, statement.line);
	snprintf(statement.digest, sizeof(statement.digest), "%s", o->image.digest);
	date_now(statement.date);
	statement_write(&statement, text);
	r = key_sign(operands_get(operands, "key"), text, signature, fault);
	if (r < 0)
		return r;
	signature_encode(signature, signature_text);
	operand_write(&words, "name", name);
	operand_write(&words, "statement", text);
	operand_write(&words, "signature", signature_text);
	printf("statement %s\nsignature %s\noperands%s\n", text, signature_text, text_string(&words));
	return 0;
}

enum exit_code verb_sign(const struct operands *operands) {
	cleanup_with(image_file_close) struct image_file o = {0};
	const char *place = NULL;
	struct fault fault;
	int r = image_file_place(operands, &place, &fault);

	if (r == 0)
		r = image_file_open(place, operands_get(operands, "digest"), &o, &fault);
	if (r == 0) {
		print_content(&o);
		r = sign(operands, &o, &fault);
	}
	return r < 0 ? fault_print(&fault, "sign") : CODE_DONE;
}
