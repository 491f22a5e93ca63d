// SPDX-License-Identifier: Apache-2.0
#include "import/fog.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "import/tree.h"

#define TEXT_MAX 65536u
#define MEBIBYTE ((uint64_t)1 << 20)

static int read_text(const struct tree *tree, const char *name, char **ret) {
	cleanup_close int fd = openat(tree->dir, name, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : file_read_fd(fd, TEXT_MAX, ret, NULL);
}

// "1:<bytes>"; only newer versions of FOG write it.
static uint64_t disk_bytes(const struct tree *tree) {
	cleanup_free char *text = NULL;
	uint64_t bytes = 0;

	if (read_text(tree, "d1.size", &text) < 0 || sscanf(text, "1:%" SCNu64, &bytes) != 1)
		return 0;
	return bytes / 512 * 512;
}

// d1.mbr is the start of the disk up to the first partition. For a GPT it is sgdisk's backup: its first sector is
// enough.
static int write_boot_code(struct tree *tree, struct fault *fault) {
	uint64_t first = MEBIBYTE;
	int r = tree_write_file(tree, "d1.mbr", 0, 446, 0, fault);

	for (size_t i = 0; i < tree->table.partition_count; i++)
		if (tree->table.partitions[i].start < first)
			first = tree->table.partitions[i].start;
	if (r == 0 && !tree->table.is_gpt && first > 512)
		r = tree_write_file(tree, "d1.mbr", 512, first - 512, 512, fault);
	return r;
}

// A line "<number> <uuid>" of each swap. 1: there is none for this one.
static int write_swap(struct tree *tree, const char *lines, unsigned number, struct fault *fault) {
	for (const char *line = lines; line; line = (line = strchr(line, '\n')) ? line + 1 : NULL) {
		char uuid[40] = "";
		unsigned n;
		if (sscanf(line, "%u %39s", &n, uuid) == 2 && n == number)
			return tree_write_swap(tree, number, uuid, "", fault);
	}
	return 1;
}

static int write_partitions(struct tree *tree, struct fault *fault) {
	cleanup_free char *swaps = NULL;
	int r = read_text(tree, "d1.original.swapuuids", &swaps);

	if (r < 0 && r != -ENOENT)
		return fault_errno(fault, CODE_FAILED, r, "d1.original.swapuuids");
	r = 0;
	for (size_t i = 0; r == 0 && i < tree->table.partition_count; i++) {
		char prefix[32];
		const struct dump_partition *partition = &tree->table.partitions[i];
		snprintf(prefix, sizeof(prefix), "d1p%u.img", partition->number);
		r = write_swap(tree, swaps, partition->number, fault);
		if (r == 1)
			r = tree_has_pieces(tree, prefix) ? tree_write_partition(tree, prefix, partition->number, fault)
							  : tree_write_absent(tree, partition, fault);
	}
	return r;
}

int import_fog(int dir, const char *path, const struct import_room *room, int *ret_fd, struct fault *fault) {
	struct tree tree = {.dir = dir, .path = path, .room = room, .disk = -1};
	int r;

	if (tree_has(&tree, "d2.partitions"))
		return fault_set(fault, CODE_UNSUPPORTED,
				 "FOG saved more than one disk there, but an image holds only one");
	r = tree_open(&tree, "d1.partitions", disk_bytes(&tree), fault);
	if (r == 0)
		r = tree_write_table(&tree, "d1.partitions", fault);
	if (r == 0)
		r = write_boot_code(&tree, fault);
	if (r == 0)
		r = write_partitions(&tree, fault);
	if (r < 0 && tree.disk >= 0)
		close(tree.disk);
	if (r == 0)
		*ret_fd = tree.disk;
	return r;
}
