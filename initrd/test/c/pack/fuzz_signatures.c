// SPDX-License-Identifier: Apache-2.0
// What libblkid finds: the bytes are the start of a partition, and lie again at 64 KiB and at its end, where other
// signatures are.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pack/content.h"
#include "pack/signatures.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BYTES (512u << 10)
#define PLACE (64u << 10)

static void check_name(const char *name, size_t size) {
	if (strlen(name) > 16 || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != size)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static int fd = -1;
	struct reader reader = {.name = "memory", .bytes = BYTES};
	const struct partition partition = {0, BYTES};
	struct content content;
	struct signatures signatures;
	struct fault fault;

	if (fd < 0)
		fd = memfd_create("partition", MFD_CLOEXEC);
	reader.fd = fd;
	size = size < PLACE ? size : PLACE;
	if (ftruncate(fd, 0) < 0 || ftruncate(fd, BYTES) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size ||
	    pwrite(fd, data, size, PLACE) != (ssize_t)size || pwrite(fd, data, size, BYTES - PLACE) != (ssize_t)size)
		abort();
	if (signatures_read(&reader, &partition, &signatures, &fault) == 0) {
		check_name(signatures.name, strlen(signatures.name));
		check_name(signatures.table, strlen(signatures.table));
	}
	if (content_read(&reader, &partition, PARTITION_ANY, &content, &fault) == 0)
		check_name(content.name, strlen(content.name));
	return 0;
}
