// SPDX-License-Identifier: Apache-2.0
#include "disk/identity.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "disk/bypath.h"
#include "disk/sysfs.h"

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

void identity_foreign(const char *real, char *ret, size_t size) {
	static const struct {
		const char *piece, *text;
	} kinds[] = {
		{"/usb", "attached by USB"},
		{"/rport-", "attached by Fibre Channel"},
		{"/fc_", "attached by Fibre Channel"},
		{"/session", "attached by iSCSI"},
		{"/nvme-fabrics/", "attached by NVMe over fabrics"},
	};

	*ret = 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !*ret; i++)
		if (strstr(real, kinds[i].piece))
			snprintf(ret, size, "%s", kinds[i].text);
}

// A namespace that may have several paths lies below its subsystem, beside links to its controllers.
static void nvme_transport(const char *real, struct disk *disk) {
	char pattern[PATH_MAX], transport[32];
	cleanup_with(globfree) glob_t found = {0};

	if (!strstr(real, "/nvme-subsystem/"))
		return;
	snprintf(pattern, sizeof(pattern), "%.*s/nvme*/transport", (int)(strrchr(real, '/') - real), real);
	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		sysfs_text(transport, sizeof(transport), "%s", found.gl_pathv[i]);
		if (strcmp(transport, "pcie") != 0)
			snprintf(disk->foreign, sizeof(disk->foreign), "attached by NVMe over %s", transport);
	}
}

void identity_find(const char *root, struct disk *disk) {
	static const char *const serials[] = {"serial", "device/serial", NULL}; // virtio; NVMe and MMC
	static const char *const models[] = {"device/model", "device/name", NULL}; // SCSI, ATA, NVMe; MMC
	static const char *const wwids[] = {"wwid", "device/wwid", NULL}; // NVMe; SCSI and ATA
	char path[PATH_MAX], wwid[sizeof(disk->wwn) - 2];
	cleanup_free char *real = NULL;

	first_of(disk->serial, sizeof(disk->serial), root, disk->name, serials);
	first_of(disk->model, sizeof(disk->model), root, disk->name, models);
	first_of(wwid, sizeof(wwid), root, disk->name, wwids);
	identity_wwn(wwid, disk->wwn, sizeof(disk->wwn));
	if (!disk->serial[0])
		scsi_serial(root, disk);
	snprintf(path, sizeof(path), "%s/sys/block/%s", root, disk->name);
	if (!(real = realpath(path, NULL)))
		return;
	usb_serial(root, real, disk);
	bypath_name(root, real, disk);
	identity_foreign(real, disk->foreign, sizeof(disk->foreign));
	nvme_transport(real, disk);
}
