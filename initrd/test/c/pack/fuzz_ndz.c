// SPDX-License-Identifier: Apache-2.0
// Files of imagezip with two chunks. The first two bytes of the input tell where the second one begins.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "import/ndz_chunk.h"
#include "import/ndz_unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// What is written is what was measured before, and never more.
static void check(const struct reader *file) {
	int out = memfd_create("disk", MFD_CLOEXEC);
	uint64_t bytes;
	struct fault fault;
	struct stat st;
	bool measured = ndz_measure(file, &bytes, &fault) == 0;

	if (measured && ftruncate(out, (off_t)bytes) < 0)
		measured = false; // larger than a file may be
	if (ndz_unpack(file, out, &fault) == 0 && !measured && bytes < UINT64_C(1) << 40)
		abort();
	if (measured && (fstat(out, &st) < 0 || (uint64_t)st.st_size != bytes))
		abort();
	close(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static _Alignas(READ_ALIGN) uint8_t file[2 * NDZ_CHUNK];
	const struct reader reader = {.name = "memory", .bytes = sizeof(file), .fd = -1, .memory = file};
	size_t split;

	if (size < 2)
		return 0;
	split = get_le16(data);
	data += 2;
	size -= 2;
	split = split < size ? split : size;
	memset(file, 0, sizeof(file));
	memcpy(file, data, split);
	memcpy(file + NDZ_CHUNK, data + split, size - split);
	check(&reader);
	return 0;
}
