// SPDX-License-Identifier: Apache-2.0
// Signatures of the contract's vectors, each with the exit code that it states.
#include <glob.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "image/trust.h"
#include "tap.h"

static struct keys keys;

struct vector {
	int code;
	const char *name, *digest, *statement, *signature;
	char floor[1024];
};

// Splits the text into lines in place.
static struct vector read_vector(char *text) {
	struct vector v = {.code = -1};

	for (char *line = strsep(&text, "\n"); line && text; line = strsep(&text, "\n")) {
		char *value = strchr(line, ' ');
		if (!value)
			continue;
		*value++ = 0;
		if (!strcmp(line, "code"))
			v.code = atoi(value);
		else if (!strcmp(line, "name"))
			v.name = value;
		else if (!strcmp(line, "digest"))
			v.digest = value;
		else if (!strcmp(line, "statement"))
			v.statement = value;
		else if (!strcmp(line, "signature"))
			v.signature = value;
		else if (!strcmp(line, "floor"))
			strcat(strcat(v.floor, value), "\n");
	}
	return v;
}

static int check(const struct vector *v, struct fault *fault) {
	static struct floors floors;
	struct image_trust trust = {.digest = v->digest,
				    .name = v->name,
				    .statement = v->statement,
				    .signature = v->signature,
				    .keys = &keys,
				    .floors = &floors};
	int r = floors_parse(v->floor, &floors, fault);

	return r == 0 ? trust_check(&trust, v->digest, fault) : r;
}

static void test_vector(const char *path) {
	cleanup_free char *text = NULL;
	struct fault fault = {0};
	struct vector v;
	int r;

	if (!ok(file_read(path, 65536, &text, NULL) == 0, "%s", path))
		return;
	v = read_vector(text);
	r = check(&v, &fault);
	ok((r < 0 ? (int)fault.code : 0) == v.code, "%s: code %d, wanted %d: %s", path, r < 0 ? (int)fault.code : 0,
	   v.code, fault.text);
}

static void test_vectors(void) {
	char pattern[512];
	glob_t found = {0};

	snprintf(pattern, sizeof(pattern), "%s/signing/*/*", getenv("SLED_CASES"));
	ok(glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 80, "%zu vectors", found.gl_pathc);
	for (size_t i = 0; i < found.gl_pathc; i++)
		test_vector(found.gl_pathv[i]);
	globfree(&found);
}

static void test_floor_files(void) {
	static struct floors floors;
	struct fault fault = {0};

	ok(floors_read("/proc/none", &floors, &fault) == 0 && floors.count == 0, "no file");
	ok(floors_read("/dev/null", &floors, &fault) == 0 && floors.count == 0, "an empty file");
	ok(floors_read("/", &floors, &fault) < 0 && fault.code == CODE_FAILED, "a directory: %s", fault.text);
	ok(floors_parse("debian 2026-01-01T00:00:00Z", &floors, &fault) < 0, "no line feed: %s", fault.text);
	ok(floors_parse("debian 2026-01-01T00:00:00Z\nv1 2026-01-01T00:00:00Z\n", &floors, &fault) == 0 &&
		   floors.count == 2,
	   "two lines");
}

static void test_lines(void) {
	static const char *const lines[][2] = {{"debian-12-v7", "debian-12"},
					       {"debian-12-v7.1.2", "debian-12"},
					       {"debian-12", "debian-12"},
					       {"golden", "golden"},
					       {"a-v1-v2", "a-v1"},
					       {"a-v", "a-v"},
					       {"a-vx1", "a-vx1"},
					       {"a-v1x", "a-v1x"},
					       {"v7", "v7"},
					       {"a-v.1", "a-v.1"},
					       {"-v1", "-v1"}};
	char line[NAME_MAX_BYTES + 1];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		line_of_name(lines[i][0], line);
		same(line, lines[i][1], "line of %s", lines[i][0]);
	}
}

int main(void) {
	struct fault fault = {0};
	char path[512];

	snprintf(path, sizeof(path), "%s/image/keys/both.pub", getenv("SLED_VECTORS"));
	ok(keys_read(path, &keys, &fault) == 0, "keys: %s", fault.text);
	test_vectors();
	test_floor_files();
	test_lines();
	return tap_done();
}
