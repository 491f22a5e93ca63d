// SPDX-License-Identifier: Apache-2.0
// A drive that is asked to erase itself. drive_ops is the seam between that and the kernel; a family of drives has its
// commands.
#pragma once

#include "disk/device.h"
#include "drive/mmc.h"
#include "drive/nvme.h"
#include "drive/offers.h"
#include "drive/scsi.h"

struct drive;

struct drive_ops {
	// The namespace that the device is, from 1; -errno: it is none.
	int64_t (*nsid)(struct drive *);

	// Submits an admin command (nvme.h) and waits for its completion. 0: success; > 0: its status; -errno: it did
	// not reach the drive, or the drive did not answer within `seconds`.
	int (*nvme)(struct drive *, const uint8_t command[NVME_COMMAND], void *data, uint32_t size, uint32_t seconds);

	// The same for SCSI. `size`: bytes from the drive; negative: to it. > 0: the status; then `sense` is set.
	int (*scsi)(struct drive *, const struct scsi_command *, void *data, int size, uint8_t sense[SCSI_SENSE],
		    uint32_t seconds);

	// The same for eMMC, for commands that follow each other without another in between; sets their responses.
	// -errno: one of them failed. `page`: MMC_PAGE bytes for the one that reads.
	int (*mmc)(struct drive *, struct mmc_command *, unsigned count, void *page, uint32_t seconds);

	// Reverts a drive of Opal by its PSID; the kernel has the timeout. NULL: returns the flags of its status
	// (linux/sed-opal.h). 0: success; > 0: the status of the method; -errno: drive or kernel has no Opal.
	int (*opal)(struct drive *, const char *psid);

	int64_t (*now)(struct drive *);
	void (*wait)(struct drive *, int64_t until);
};

struct drive_family {
	const char *kind; // how the names of its methods begin

	// 1: the drive is of another family. Fills in offers and what the drive reaches.
	int (*probe)(struct drive *, struct offers *, struct fault *);

	// Waits for the end of a sanitize that an earlier boot started. *ret: which method that was; METHOD_AUTO: none.
	int (*settle)(struct drive *, enum erase_method *ret, struct fault *);

	// Erases. Code 3: the drive refused the command, and nothing was touched.
	int (*run)(struct drive *, const struct offer *, struct fault *);
};

struct drive {
	const struct drive_ops *ops;
	const struct drive_family *family;
	struct device *device;
	void *context;				     // of ops, in tests
	const char *serial, *psids;		     // for a revert; may be NULL
	void (*tick)(struct drive *, uint32_t part); // of SANITIZE_WHOLE; may be NULL
	void *owner;				     // of tick

	// What a command for the whole drive reaches: units (namespaces), of which this disk is one.
	uint32_t unit;
	uint32_t reach[2 * NVME_LIST_MAX];
	unsigned reach_count;
	char unknown[96]; // why not all of them are known; empty: they are

	struct nvme_controller nvme;
	struct nvme_namespace nvme_as;
	char reported[REPORTED_MAX]; // by the last command
	bool failed;		     // as a SCSI or ATA drive reported when it ended
};

extern const struct drive_ops drive_kernel;
extern const struct drive_family drive_nvme, drive_scsi, drive_ata, drive_mmc;

// Follows a sanitize. `poll` returns 1 at its end, 0 while it is at work, and sets *ret_progress.
int drive_follow(struct drive *drive, uint32_t seconds, int (*poll)(struct drive *, uint32_t *, struct fault *),
		 struct fault *fault);
