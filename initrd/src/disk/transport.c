// SPDX-License-Identifier: Apache-2.0
#include "disk/transport.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "disk/sysfs.h"

static const struct {
	const char *word, *foreign;
	bool paths; // the kernel shows each path as a disk
} transports[] = {
	{"nvme", "", false},
	{"sata", "", false},
	{"sas", "", true},
	{"raid", "", false},
	{"virtio", "", true},
	{"mmc", "", false},
	{"usb", "attached by USB", false},
	{"fc", "attached by Fibre Channel", true},
	{"iscsi", "attached by iSCSI", true},
	{"nvme-of", "attached by NVMe over fabrics", false},
};

// The first of these pieces in a path decides. A disk behind a SAS adapter is sas, whatever it speaks itself.
static const struct {
	const char *piece, *word;
} pieces[] = {
	{"/usb", "usb"},
	{"/rport-", "fc"},
	{"/fc_", "fc"},
	{"/session", "iscsi"},
	{"/nvme-fabrics/", "nvme-of"},
	{"/virtio", "virtio"},
	{"/end_device-", "sas"},
	{"/ata", "sata"},
};

// Drivers of controllers whose volumes are disks to the kernel.
static const char *const raid_drivers[] = {"3w-9xxx", "3w-sas",	 "aacraid", "arcmsr", "hpsa",	 "megaraid_sas",
					   "mpi3mr",  "mpt2sas", "mpt3sas", "mvumi",  "smartpqi"};

bool transport_is_word(const char *word) {
	for (size_t i = 0; i < ELEMENTS(transports); i++)
		if (!strcmp(word, transports[i].word))
			return true;
	return false;
}

bool transport_is_local(const char *word) { return transport_is_word(word) && !*transport_foreign(word); }

bool transport_may_be_removed(const char *word) { return !*word || !strcmp(word, "usb") || !strcmp(word, "mmc"); }

const char *transport_foreign(const char *word) {
	for (size_t i = 0; i < ELEMENTS(transports); i++)
		if (!strcmp(word, transports[i].word))
			return transports[i].foreign;
	return "";
}

bool transport_same_disk(const struct disk *a, const struct disk *b) {
	bool paths = false;

	for (size_t i = 0; i < ELEMENTS(transports); i++)
		paths |= transports[i].paths && !strcmp(a->transport, transports[i].word);
	return paths && !strcmp(a->transport, b->transport) && a->wwn[0] && !strcmp(a->wwn, b->wwn) && a->serial[0] &&
	       !strcmp(a->serial, b->serial) && a->bytes && a->bytes == b->bytes && strcmp(a->name, b->name) != 0;
}

const char *transport_of_path(const char *real, const char *name) {
	for (size_t i = 0; i < ELEMENTS(pieces); i++)
		if (strstr(real, pieces[i].piece))
			return pieces[i].word;
	if (!strncmp(name, "nvme", 4))
		return "nvme";
	return strncmp(name, "mmcblk", 6) ? "" : "mmc";
}

static bool is_raid(const char *root, const char *real) {
	const char *host = strstr(real, "/host");
	char driver[64];
	unsigned number;

	if (!host || sscanf(host, "/host%u/", &number) != 1)
		return false;
	sysfs_text(driver, sizeof(driver), "%s/sys/class/scsi_host/host%u/proc_name", root, number);
	for (size_t i = 0; i < ELEMENTS(raid_drivers); i++)
		if (!strcmp(driver, raid_drivers[i]))
			return true;
	return false;
}

// A namespace that may have several paths lies below its subsystem, beside links to its controllers.
static void find_fabrics(const char *real, struct disk *disk) {
	char pattern[PATH_MAX], transport[32];
	cleanup_with(globfree) glob_t found = {0};

	if (!strstr(real, "/nvme-subsystem/"))
		return;
	snprintf(pattern, sizeof(pattern), "%.*s/nvme*/transport", (int)(strrchr(real, '/') - real), real);
	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		sysfs_text(transport, sizeof(transport), "%s", found.gl_pathv[i]);
		if (strcmp(transport, "pcie") != 0) {
			snprintf(disk->transport, sizeof(disk->transport), "nvme-of");
			snprintf(disk->foreign, sizeof(disk->foreign), "attached by NVMe over %s", transport);
		}
	}
}

void transport_find(const char *root, const char *real, struct disk *disk) {
	const char *word = transport_of_path(real, disk->name);

	if (!*word && is_raid(root, real))
		word = "raid";
	snprintf(disk->transport, sizeof(disk->transport), "%s", word);
	snprintf(disk->foreign, sizeof(disk->foreign), "%s", transport_foreign(word));
	find_fabrics(real, disk);
}
