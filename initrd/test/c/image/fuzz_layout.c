// SPDX-License-Identifier: Apache-2.0
// Whole image files. The digest is made right, so that what it protects is reached too.
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "source/prove.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TRAILER_FRAME ((uint64_t)SKIPPABLE + TRAILER)

static void make_right(uint8_t *file, size_t size) {
	uint64_t table = size < SEEK_FOOTER ? 0 : seek_table_size(file + size - SEEK_FOOTER);
	uint8_t *trailer;
	uint64_t at, bytes;

	if (table == 0 || table + TRAILER_FRAME > size)
		return;
	trailer = file + size - table - TRAILER_FRAME + SKIPPABLE;
	at = get_le64(trailer + 16);
	bytes = get_le64(trailer + 24);
	if (at <= size && bytes <= size - at)
		(void)EVP_Digest(file + at, bytes, trailer + 32, NULL, EVP_sha256(), NULL);
}

static void open_and_prove(int fd) {
	char path[64];
	struct url url = {.text = path, .scheme = SCHEME_FILE, .host = path, .path = path};
	struct urls urls = {.count = 1, .items = {url}};
	struct image_trust trust = {0};
	struct progress progress = {0};
	struct source *source = NULL;
	struct image image = {0};
	struct fault fault = {0};
	int r;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (source_open(&urls, NULL, INT64_C(1000000000), &source, &fault) < 0)
		abort();
	r = image_open(source, &trust, &image, &fault);
	if (r == 0)
		r = prove_file(source, &image, &progress, &fault);
	if (r < 0 && fault.code != CODE_INTEGRITY && fault.code != CODE_UNSUPPORTED)
		abort();
	image_close(&image);
	source_close(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static int fd = -1;
	uint8_t *file = malloc(size + 1);

	if (fd < 0)
		fd = memfd_create("image", MFD_CLOEXEC);
	memcpy(file, data, size);
	make_right(file, size);
	if (ftruncate(fd, 0) < 0 || pwrite(fd, file, size, 0) != (ssize_t)size)
		abort();
	open_and_prove(fd);
	free(file);
	return 0;
}
