// SPDX-License-Identifier: Apache-2.0
#include "disk/identity.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "disk/bypath.h"
#include "disk/sysfs.h"
#include "disk/transport.h"

void identity_page80(const unsigned char *page, size_t size, char *ret, size_t ret_size) {
	size_t n;

	*ret = 0;
	if (size < 4 || page[1] != 0x80)
		return;
	n = (size_t)(page[2] << 8 | page[3]);
	if (n > size - 4)
		n = size - 4;
	snprintf(ret, ret_size, "%.*s", (int)n, (const char *)page + 4);
	sysfs_clean(ret);
}

void identity_wwn(const char *wwid, char *ret, size_t ret_size) {
	if (!strncmp(wwid, "naa.", 4))
		snprintf(ret, ret_size, "0x%s", wwid + 4);
	else
		snprintf(ret, ret_size, "%s", wwid);
}

static void scsi_serial(const char *root, struct disk *disk) {
	cleanup_free char *path = NULL, *page = NULL;
	size_t size;

	if (asprintf(&path, "%s/sys/block/%s/device/vpd_pg80", root, disk->name) < 0)
		return;
	if (file_read(path, 4096, &page, &size) == 0)
		identity_page80((const unsigned char *)page, size, disk->serial, sizeof(disk->serial));
}

// Elsewhere this file holds a number. libata reports "ATA" for every disk.
static void scsi_vendor(const char *root, struct disk *disk) {
	if (strncmp(disk->name, "sd", 2))
		return;
	sysfs_text(disk->vendor, sizeof(disk->vendor), "%s/sys/block/%s/device/vendor", root, disk->name);
	if (!strcmp(disk->vendor, "ATA"))
		disk->vendor[0] = 0;
}

// A USB bridge often hides the disk's serial number; udev then uses that of the USB device.
static void usb_serial(const char *root, const char *real, struct disk *disk) {
	char at[PATH_MAX], *slash;

	if (!strstr(real, "/usb"))
		return;
	snprintf(at, sizeof(at), "%s", real);
	while (!disk->serial[0] && (slash = strrchr(at, '/')) && strlen(at) > strlen(root) + strlen("/sys/devices")) {
		char subsystem[32];
		*slash = 0;
		sysfs_link(subsystem, sizeof(subsystem), "%s/subsystem", at);
		if (!strcmp(subsystem, "usb"))
			sysfs_text(disk->serial, sizeof(disk->serial), "%s/serial", at);
	}
}

// The first attribute of the list that is not empty.
static void first_of(char *ret, size_t size, const char *root, const char *name, const char *const *attributes) {
	for (*ret = 0; *attributes && !*ret; attributes++)
		sysfs_text(ret, size, "%s/sys/block/%s/%s", root, name, *attributes);
}

// Namespaces lie below their controller, or below the subsystem if they may have several paths.
static void nvme_drive(const char *real, struct disk *disk) {
	const char *end = strrchr(real, '/'), *start = end;

	if (strncmp(disk->name, "nvme", 4) != 0 || !end)
		return;
	while (start > real && start[-1] != '/')
		start--;
	snprintf(disk->drive, sizeof(disk->drive), "%.*s", (int)(end - start), start);
}

void identity_find(const char *root, struct disk *disk) {
	static const char *const serials[] = {"serial", "device/serial", NULL};	   // virtio; NVMe and MMC
	static const char *const models[] = {"device/model", "device/name", NULL}; // SCSI, ATA, NVMe; MMC
	static const char *const wwids[] = {"wwid", "device/wwid", NULL};	   // NVMe; SCSI and ATA
	char path[PATH_MAX], wwid[sizeof(disk->wwn) - 2];
	cleanup_free char *real = NULL;

	first_of(disk->serial, sizeof(disk->serial), root, disk->name, serials);
	first_of(disk->model, sizeof(disk->model), root, disk->name, models);
	first_of(wwid, sizeof(wwid), root, disk->name, wwids);
	identity_wwn(wwid, disk->wwn, sizeof(disk->wwn));
	scsi_vendor(root, disk);
	if (!disk->serial[0])
		scsi_serial(root, disk);
	snprintf(path, sizeof(path), "%s/sys/block/%s", root, disk->name);
	if (!(real = realpath(path, NULL)))
		return;
	usb_serial(root, real, disk);
	bypath_name(root, real, disk);
	transport_find(root, real, disk);
	nvme_drive(real, disk);
}
