// SPDX-License-Identifier: Apache-2.0
#include "import/clonezilla.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "import/tree.h"

#define NAMES_MAX 16384u // bytes of "parts"
#define NAME_MAX_BYTES 32u
#define MEBIBYTE ((uint64_t)1 << 20)

static int read_text(const struct tree *tree, const char *name, char **ret) {
	cleanup_close int fd = openat(tree->dir, name, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : file_read_fd(fd, NAMES_MAX, ret, NULL);
}

// Only letters and digits: the text becomes part of file names.
static bool is_name(const char *name) {
	size_t size = strlen(name);
	return size > 0 && size < NAME_MAX_BYTES && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789") == size;
}

static int one_disk(const struct tree *tree, char ret[NAME_MAX_BYTES], struct fault *fault) {
	cleanup_free char *text = NULL;

	if (read_text(tree, "disk", &text) < 0)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "Clonezilla saved single partitions there, not a disk (no file \"disk\")");
	text[strcspn(text, "\n")] = 0;
	if (!is_name(text))
		return fault_set(fault, CODE_UNSUPPORTED,
				 "the file \"disk\" contains \"%.80s\", but must name one disk, such as sda", text);
	if (tree_has(tree, "lvm_vg_dev.list"))
		return fault_set(fault, CODE_UNSUPPORTED,
				 "Clonezilla saved logical volumes there, whose place on the disk is unknown: save the "
				 "disk with dd, or as qcow2");
	snprintf(ret, NAME_MAX_BYTES, "%s", text);
	return 0;
}

// "Disk /dev/sda: 41943040s", as parted prints it.
static uint64_t parted_bytes(const struct tree *tree, const char *disk) {
	cleanup_free char *text = NULL;
	char name[64];
	const char *at;
	uint64_t sectors = 0;

	snprintf(name, sizeof(name), "%s-pt.parted", disk);
	if (read_text(tree, name, &text) < 0 || !(at = strstr(text, "\nDisk /dev/")) || !(at = strstr(at, ": ")))
		return 0;
	if (sscanf(at, ": %" SCNu64 "s", &sectors) != 1 || sectors > UINT64_MAX / 1024)
		return 0;
	return sectors * 512;
}

// Writes both saved copies of a GPT, or the table that sfdisk makes from the dump, and the boot code before the first
// partition.
static int write_table(struct tree *tree, const char *disk, const char *table, struct fault *fault) {
	uint64_t first = MEBIBYTE, bytes = (uint64_t)lseek(tree->disk, 0, SEEK_END);
	char mbr[64], hidden[64], start[64], end[64];
	int r = 0;

	snprintf(mbr, sizeof(mbr), "%s-mbr", disk);
	snprintf(hidden, sizeof(hidden), "%s-hidden-data-after-mbr", disk);
	snprintf(start, sizeof(start), "%s-gpt-1st", disk);
	snprintf(end, sizeof(end), "%s-gpt-2nd", disk);
	for (size_t i = 0; i < tree->table.partition_count; i++)
		if (tree->table.partitions[i].start < first)
			first = tree->table.partitions[i].start;
	if (!tree->table.is_gpt || !tree_has(tree, start))
		r = tree_write_table(tree, table, fault);
	if (r == 0)
		r = tree_write_file(tree, mbr, 0, 446, 0, fault);
	if (r == 0 && !tree->table.is_gpt && first > 512)
		r = tree_write_file(tree, hidden, 0, first - 512, 512, fault);
	if (r == 0)
		r = tree_write_file(tree, start, 0, 34 * 512, 0, fault);
	if (r == 0 && tree->table.is_gpt)
		r = tree_write_file(tree, end, 0, 33 * 512, bytes - 33 * 512, fault);
	return r;
}

// The value of a line NAME="value"; empty: there is none.
static void value_of(const char *text, const char *name, char *ret, size_t size) {
	size_t n = strlen(name);

	*ret = 0;
	for (const char *line = text; line; line = (line = strchr(line, '\n')) ? line + 1 : NULL)
		if (!strncmp(line, name, n) && line[n] == '=' && line[n + 1] == '"')
			snprintf(ret, size, "%.*s", (int)strcspn(line + n + 2, "\"\n"), line + n + 2);
}

// 1: it is no swap that was saved.
static int write_swap(struct tree *tree, const char *name, unsigned number, struct fault *fault) {
	cleanup_free char *text = NULL;
	char file[64], uuid[64], label[64];

	snprintf(file, sizeof(file), "swappt-%s.info", name);
	if (read_text(tree, file, &text) < 0)
		return 1;
	value_of(text, "UUID", uuid, sizeof(uuid));
	value_of(text, "LABEL", label, sizeof(label));
	return tree_write_swap(tree, number, uuid, label, fault);
}

// The kernel's name of a partition: sda1, nvme0n1p1.
static void name_of(const char *disk, unsigned number, char ret[NAME_MAX_BYTES]) {
	char last = disk[strlen(disk) - 1];
	snprintf(ret, NAME_MAX_BYTES, "%s%s%u", disk, last >= '0' && last <= '9' ? "p" : "", number);
}

// Its file is <name>.<content>-ptcl-img.<compression>, cut into .aa .ab ...; or -img for dd's.
static int write_partition(struct tree *tree, const char *disk, const struct dump_partition *partition,
			   struct fault *fault) {
	char name[NAME_MAX_BYTES], prefix[NAME_MAX_BYTES + 1];
	int r;

	name_of(disk, partition->number, name);
	snprintf(prefix, sizeof(prefix), "%s.", name);
	r = write_swap(tree, name, partition->number, fault);
	if (r == 1)
		r = tree_has_pieces(tree, prefix) ? tree_write_partition(tree, prefix, partition->number, fault)
						  : tree_write_absent(tree, partition, fault);
	return r;
}

static bool is_in_table(const struct tree *tree, const char *disk, const char *name) {
	char other[NAME_MAX_BYTES];
	bool found = false;

	for (size_t i = 0; i < tree->table.partition_count && !found; i++) {
		name_of(disk, tree->table.partitions[i].number, other);
		found = !strcmp(name, other);
	}
	return found;
}

// What Clonezilla lists as saved is in the table, and all that is in the table was saved.
static int write_partitions(struct tree *tree, const char *disk, struct fault *fault) {
	cleanup_free char *names = NULL;
	char *rest, *name;
	int r = read_text(tree, "parts", &names);

	if (r < 0)
		return fault_errno(fault, CODE_FAILED, r, "parts");
	for (name = strtok_r(names, " \n", &rest); name; name = strtok_r(NULL, " \n", &rest))
		if (!is_in_table(tree, disk, name))
			return fault_set(fault, CODE_UNSUPPORTED,
					 "the file \"parts\" names \"%.80s\", which is not a partition of the table",
					 name);
	for (size_t i = 0; r == 0 && i < tree->table.partition_count; i++)
		r = write_partition(tree, disk, &tree->table.partitions[i], fault);
	return r;
}

int import_clonezilla(int dir, const char *path, const struct import_room *room, int *ret_fd, struct fault *fault) {
	struct tree tree = {.dir = dir, .path = path, .room = room, .disk = -1};
	char disk[NAME_MAX_BYTES], table[64];
	int r = one_disk(&tree, disk, fault);

	if (r < 0)
		return r;
	snprintf(table, sizeof(table), "%s-pt.sf", disk);
	r = tree_open(&tree, table, parted_bytes(&tree, disk), fault);
	if (r == 0)
		r = write_table(&tree, disk, table, fault);
	if (r == 0)
		r = write_partitions(&tree, disk, fault);
	if (r < 0 && tree.disk >= 0)
		close(tree.disk);
	if (r == 0)
		*ret_fd = tree.disk;
	return r;
}
