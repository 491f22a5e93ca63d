// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "disk/choose.h"
#include "disk/contents.h"
#include "disk/device.h"
#include "disk/partition_choose.h"
#include "disk/scan.h"
#include "disk/seam.h"
#include "verbs/verbs.h"

const struct operand_rule disks_rules[] = {
	{"disk", false, "selector; prints the device of the one disk that it matches", NULL, check_selector},
	{"keep", false, "disks that are never touched (disk selectors joined by ;)", NULL, check_keep},
	{"partition", false, "prints the device of this partition of that disk", NULL, check_partition},
	{"root", false, "read sysfs and procfs below this directory", NULL, NULL},
	{0},
};

// Prints the device of the disk, or of a partition of it. Fails if the disk is in use (a mount, an array).
static int print_chosen(const char *root, const struct disk *disk, const char *partition, struct fault *fault) {
	cleanup_with(device_close) struct device device = {.fd = -1};
	struct chosen_partition chosen;
	char node[NODE_MAX];
	int r = *root ? 0 : device_open_node(disk, O_RDONLY | O_EXCL, NULL, &device, fault);

	if (r == 0 && !partition) {
		puts(disk->node);
		return 0;
	}
	if (r == 0)
		r = partition_choose(device.fd, device.name, device.sector, partition, &chosen, fault);
	if (r == 0)
		r = scan_partition_node(seam_root(), disk, &chosen.place, node, fault);
	if (r == 0)
		puts(node);
	return r;
}

static int print_list(const struct disks *disks, const struct operands *operands, FILE *out, struct fault *fault) {
	cleanup_with(text_free) struct text text = {0};
	int r = choose_list(disks, operands_get(operands, "disk"), operands_get(operands, "keep"), &text, fault);
	if (r == 0)
		fputs(text_string(&text), out);
	return r;
}

enum exit_code verb_disks(const struct operands *operands) {
	const char *root = operands_get_or(operands, "root", ""), *selector = operands_get(operands, "disk"),
		   *partition = operands_get(operands, "partition");
	cleanup_with(disks_free) struct disks disks = {0};
	const struct disk *disk = NULL;
	struct fault fault, ignored;
	int r = 0;

	if (partition && (*root || !selector))
		r = fault_set(&fault, CODE_USAGE, "partition= needs disk=, and is not for root=");
	else
		root = *root ? root : seam_root();
	if (r == 0)
		r = scan_disks(root, &disks, &fault);
	if (r == 0)
		r = contents_read(root, &disks, &fault);
	if (r == 0 && !selector)
		r = print_list(&disks, operands, stdout, &fault);
	else if (r == 0) {
		r = choose_disk(&disks, selector, operands_get(operands, "keep"), &disk, &fault);
		if (r == 0)
			r = print_chosen(operands_get_or(operands, "root", ""), disk, partition, &fault);
		if (r < 0)
			(void)print_list(&disks, operands, stderr, &ignored);
	}
	return r < 0 ? fault_print(&fault, "disks") : CODE_DONE;
}
