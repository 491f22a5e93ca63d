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

static void mark_empty(struct dump *table, unsigned number) {
	for (size_t i = 0; i < table->partition_count; i++)
		if (table->partitions[i].number == number)
			table->partitions[i].is_empty = true;
}

// Lines "<number> <uuid>".
static int write_swaps(struct tree *tree, struct fault *fault) {
	cleanup_free char *text = NULL;
	char *rest, *line;
	int r = 0;

	if (read_text(tree, "d1.original.swapuuids", &text) < 0)
		return 0;
	for (line = strtok_r(text, "\n", &rest); r == 0 && line; line = strtok_r(NULL, "\n", &rest)) {
		char uuid[40] = "";
		unsigned number;
		if (sscanf(line, "%u %39s", &number, uuid) != 2)
			continue;
		r = tree_write_swap(tree, number, uuid, fault);
		mark_empty(&tree->table, number);
	}
	return r;
}

// Swap, by its content or its type, and the extended partition have no file.
static int write_partitions(struct tree *tree, struct fault *fault) {
	int r = 0;

	for (size_t i = 0; r == 0 && i < tree->table.partition_count; i++) {
		char prefix[32];
		const struct dump_partition *partition = &tree->table.partitions[i];
		snprintf(prefix, sizeof(prefix), "d1p%u.img", partition->number);
		if (tree_has_prefix(tree, prefix))
			r = tree_write_partition(tree, prefix, partition->number, fault);
		else if (!partition->is_empty)
			r = fault_set(fault, CODE_UNSUPPORTED,
				      "there is no image of partition %u: the folder is not "
				      "complete, or FOG saved only some of the partitions",
				      partition->number);
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
		r = write_swaps(&tree, fault);
	if (r == 0)
		r = write_partitions(&tree, fault);
	if (r < 0 && tree.disk >= 0)
		close(tree.disk);
	if (r == 0)
		*ret_fd = tree.disk;
	return r;
}
