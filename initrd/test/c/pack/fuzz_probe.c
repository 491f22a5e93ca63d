// SPDX-License-Identifier: Apache-2.0
// What a partition holds, in what form a disk comes, whether a filesystem is clean, what it counts as free. The bytes
// are the start of a partition.
#include <stdlib.h>
#include <string.h>

#include "import/foreign.h"
#include "import/recognise.h"
#include "pack/free_bytes.h"
#include "pack/probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_clean(const uint8_t *data, size_t size) {
	static clean_check *const checks[] = {clean_xfs, clean_ntfs, clean_f2fs};
	static const char *const names[] = {"ext4", "xfs", "f2fs", "fat", "exfat", "ntfs"};
	const struct reader reader = {.name = "memory", .bytes = size, .fd = -1, .memory = data};
	const struct partition partition = {0, size};
	struct fault fault;
	uint64_t count;

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		const char *objection = NULL, *doubt = NULL;
		(void)checks[i](&reader, &partition, &objection, &doubt, &fault);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)free_bytes_read(&reader, &partition, names[i], &count, &fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct probe found;
	const char *why;

	probe(data, size, data, size, &found);
	if (!found.name || strlen(found.name) > 16 ||
	    (found.kind != CONTENT_FILESYSTEM && found.objection && strcmp(found.name, "swsuspend")))
		abort();
	(void)import_recognise(data, size, data, size < 9 ? size : 9, &why);
	if (size >= IMPORT_TAIL)
		(void)foreign_is_fixed_vhd(data, size);
	check_clean(data, size);
	return 0;
}
