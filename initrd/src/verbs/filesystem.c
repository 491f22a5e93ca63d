// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "disk/filesystem.h"
#include "disk/filesystem_bytes.h"
#include "pack/unclaimed.h"
#include "verbs/verbs.h"

const struct operand_rule filesystem_rules[] = {
	{"device", true, "partition or disk; its filesystems are printed, one per line, nothing if there is none", NULL,
	 NULL},
	{"uuid", false, "only a filesystem with this UUID is printed", NULL, NULL},
	{"label", false, "only a filesystem with this label is printed", NULL, NULL},
	{"partuuid", false, "only a filesystem in the partition with this UUID is printed", NULL, NULL},
	{"partlabel", false, "only a filesystem in the partition with this name is printed", NULL, NULL},
	{"behind", false,
	 "instead: where the first bytes other than 0 are behind it, nothing if there are none (default no)", "no|yes",
	 NULL},
	{0},
};

// In granules, cut at both ends. With two filesystems on the device nothing is known of either.
static int print_behind(const char *path, const char *types, struct fault *fault) {
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	cleanup_with(extents_free) struct extents kept = {0};
	uint8_t head[FILESYSTEM_HEAD];
	struct reader reader;
	char content[17];
	uint32_t sector;
	uint64_t bytes;
	int r;

	if (fd < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", path);
	r = reader_open(fd, path, &reader, &sector, fault);
	if (r < 0 || reader.bytes < sizeof(head))
		return r;
	r = reader_read(&reader, head, sizeof(head), 0, fault);
	snprintf(content, sizeof(content), "%.*s", (int)strcspn(types, "\n"), types);
	bytes = strchr(types, '\n') == strrchr(types, '\n') ? filesystem_bytes(content, head, sizeof(head)) : 0;
	if (r == 0 && bytes > 0)
		r = unclaimed_keep(&reader, bytes, reader.bytes, &kept, fault);
	if (r == 0 && kept.failed)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "%s", path);
	if (r == 0 && kept.count > 0)
		printf("%" PRIu64 "\n", kept.items[0].start);
	return r;
}

enum exit_code verb_filesystem(const struct operands *operands) {
	const struct filesystem_name name = {operands_get(operands, "uuid"), operands_get(operands, "label"),
					     operands_get(operands, "partuuid"), operands_get(operands, "partlabel")};
	cleanup_with(text_free) struct text types = {0};
	struct fault fault;

	if (filesystem_read(operands_get(operands, "device"), &name, &types, &fault) < 0)
		return fault_print(&fault, "filesystem");
	if (!strcmp(operands_get_or(operands, "behind", "no"), "yes")) {
		if (print_behind(operands_get(operands, "device"), text_string(&types), &fault) < 0)
			return fault_print(&fault, "filesystem");
		return fflush(stdout) ? CODE_FAILED : CODE_DONE;
	}
	return fputs(text_string(&types), stdout) < 0 || fflush(stdout) ? CODE_FAILED : CODE_DONE;
}
