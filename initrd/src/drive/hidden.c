// SPDX-License-Identifier: Apache-2.0
#include "drive/hidden.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/crew.h"
#include "disk/choose.h"
#include "drive/ata_hidden.h"
#include "drive/ata_submit.h"

// Some bridges of USB do not survive an ATA command. Behind a SAS controller there may be SATA drives.
static bool is_asked(const struct disk *disk) {
	return choose_is_disk(disk) && !disk->removable &&
	       (!strcmp(disk->transport, "sata") || !strcmp(disk->transport, "sas"));
}

static void read_one(const char *root, const struct drive_ops *ops, struct disk *disk) {
	struct device device = {.sector = disk->sector};
	struct drive drive = {.ops = ops, .device = &device};
	cleanup_close int fd = disk_open(root, disk);
	struct ata_identity identity;
	struct ata_hidden hidden;
	struct fault ignored;

	if (fd < 0)
		return;
	device.fd = fd;
	snprintf(device.name, sizeof(device.name), "%s", disk->name);
	if (!ata_is_drive(&drive) || ata_read_identity(&drive, &identity, &ignored) < 0)
		return;
	ata_hidden(&drive, &identity, &hidden);
	ata_hidden_fact(&hidden, disk->hidden, sizeof(disk->hidden));
}

struct work {
	struct crew crew;
	const char *root;
	const struct drive_ops *ops;
	struct disks *disks;
};

static void *read_next(void *context) {
	struct work *work = context;
	uint32_t from, to;

	while (crew_take(&work->crew, 1, &from, &to))
		if (is_asked(&work->disks->items[from]))
			read_one(work->root, work->ops, &work->disks->items[from]);
	return NULL;
}

int hidden_read(const char *root, const struct drive_ops *ops, struct disks *disks, struct fault *fault) {
	struct work work = {.crew = CREW_INIT((uint32_t)disks->count), .root = root, .ops = ops, .disks = disks};

	if (disks->count == 0)
		return 0;
	return crew_run(&work.crew, crew_size(CREW_MAX, CREW_MAX, work.crew.items), read_next, &work, fault);
}
