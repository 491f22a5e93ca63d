// SPDX-License-Identifier: Apache-2.0
// Images of the contract's vectors, each with the exit code that its manifest says.
#include <stdlib.h>

#include "base/cleanup.h"
#include "image/frame.h"
#include "net/url.h"
#include "source/prove.h"
#include "tap.h"

#define FOLDER 512

static char folder[FOLDER];

// Opens and proves a file as `verify` does.
static int prove(const char *file, struct image *ret, struct fault *fault) {
	cleanup_with(urls_free) struct urls urls = {0};
	cleanup_with(source_close) struct source *source = NULL;
	char text[2 * FOLDER];
	struct progress progress = {0};
	struct image_trust trust = {0};
	int r;

	snprintf(text, sizeof(text), "file://%s/%s", folder, file);
	r = urls_parse(text, &urls, fault);
	if (r == 0)
		r = source_open(&urls, NULL, INT64_C(1000000000), &source, fault);
	if (r == 0)
		r = image_open(source, &trust, ret, fault);
	if (r == 0)
		r = prove_file(source, ret, &progress, fault);
	return r;
}

// What was read is written again to the same bytes, and read again.
static void round_trip(const struct image *image, const char *name) {
	cleanup_free uint8_t *data = NULL;
	struct index again = {0};
	struct fault fault = {0};
	uint8_t *copy = NULL;
	size_t size = 0, size_again = 0;

	ok(index_encode(&image->index, &data, &size) == 0 && size == image->index_size, "%s: index is written", name);
	ok(index_parse(data, size, &again, &fault) == 0, "%s: and read: %s", name, fault.text);
	ok(index_encode(&again, &copy, &size_again) == 0 && size_again == size && !memcmp(copy, data, size),
	   "%s: and the same", name);
	free(copy);
	index_free(&again);
}

static void vector(const char *file, int code) {
	struct image image = {0};
	struct fault fault = {0};
	int r = prove(file, &image, &fault);

	ok((r < 0 ? (int)fault.code : 0) == code, "%s: code %d, wanted %d: %s", file, r < 0 ? (int)fault.code : 0, code,
	   fault.text);
	if (code == 0 && r == 0)
		round_trip(&image, file);
	image_close(&image);
}

static void test_vectors(void) {
	char path[2 * FOLDER], file[256];
	cleanup_file FILE *manifest = NULL;
	unsigned count = 0;
	int code;

	snprintf(path, sizeof(path), "%s/manifest", folder);
	manifest = fopen(path, "re");
	while (manifest && fscanf(manifest, "%255s %d %*s %*d", file, &code) == 2) {
		vector(file, code);
		count++;
	}
	ok(count > 100, "%u vectors", count);
}

int main(void) {
	const char *vectors = getenv("SLED_VECTORS");

	snprintf(folder, sizeof(folder), "%s/image", vectors ? vectors : "../../../contract/vectors");
	if (folder[0] != '/') {
		cleanup_free char *whole = realpath(folder, NULL);
		snprintf(folder, sizeof(folder), "%s", whole ? whole : "/");
	}
	test_vectors();
	return tap_done();
}
