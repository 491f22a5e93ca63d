// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "disk/choose.h"
#include "disk/contents.h"
#include "disk/device.h"
#include "disk/scan.h"
#include "disk/seam.h"
#include "disk/transport.h"
#include "node/data_disk.h"
#include "verbs/verbs.h"

// The installed system finds the partition by its GUID: a copy on another disk could be mounted in its place.
static int check_alone(const struct disks *disks, const struct disk *disk, const struct data_disk *data,
		       struct fault *fault) {
	char guid[GUID_TEXT], line[GUID_TEXT + 16];

	guid_write(data->part, guid);
	snprintf(line, sizeof(line), "part-uuid:%s\n", guid);
	for (size_t i = 0; i < disks->count; i++) {
		const struct disk *other = &disks->items[i];
		if (other != disk && !transport_same_disk(other, disk) && other->parts && strstr(other->parts, line))
			return fault_set(
				fault, CODE_DISK,
				"%s (serial %s) has a copy of the partition %s of %s: remove one of the two disks",
				other->name, other->serial, guid, disk->name);
	}
	return 0;
}

static int lay_out(const struct disks *disks, const struct disk *disk, struct data_disk *data, bool *ret_made,
		   struct fault *fault) {
	cleanup_with(device_close) struct device device = {.fd = -1};
	int r = seam_open(&device) ? 0 : device_open_disk(disks, disk, &device, fault), found;

	if (r < 0)
		return r;
	data_disk_name(data, disk);
	found = data_disk_look(&device, data, fault);
	r = found < 0 ? found : check_alone(disks, disk, data, fault);
	*ret_made = found == 0;
	return r == 0 && *ret_made ? data_disk_make(&device, data, fault) : r;
}

// The one disk that the selector means. Where a file replaces the disk, it has no identity.
static int find(const char *selector, const char *keep, struct disks *disks, const struct disk **ret,
		struct fault *fault) {
	static const struct disk replaced;
	cleanup_with(text_free) struct text list = {0};
	struct fault ignored;
	int r = 0;

	*ret = &replaced;
	if (seam_count() > 0)
		return 0;
	r = scan_disks(seam_root(), disks, fault);
	if (r == 0)
		r = contents_read(seam_root(), disks, fault);
	if (r == 0 && (r = choose_disk(disks, selector, keep, ret, fault)) < 0) {
		(void)choose_list(disks, selector, keep, &list, &ignored);
		fputs(text_string(&list), stderr);
	}
	return r;
}

// Prints "made GUID" or "found GUID", of the partition.
enum exit_code verb_layout(const struct operands *operands) {
	const char *selector = operands_get(operands, "disk"), *keep = operands_get(operands, "keep");
	cleanup_with(disks_free) struct disks disks = {0};
	const struct disk *disk = NULL;
	struct data_disk data = {0};
	char guid[GUID_TEXT];
	struct fault fault;
	bool made = false;
	int r = find(selector, keep, &disks, &disk, &fault);

	snprintf(data.name, sizeof(data.name), "%s", operands_get(operands, "name"));
	guid_parse(operands_get(operands, "id"), data.id);
	if (r == 0)
		r = lay_out(&disks, disk, &data, &made, &fault);
	if (r < 0)
		return fault_print(&fault, "layout");
	guid_write(data.part, guid);
	printf("%s %s\n", made ? "made" : "found", guid);
	return CODE_DONE;
}
