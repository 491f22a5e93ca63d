// SPDX-License-Identifier: Apache-2.0
// The properties of a block device, for the facts and for its selection. disk/scan.c reads them from sysfs.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text.h"
#include "disk/sets.h"

#define DISKS_MAX 4096u	    // block devices that are read
#define PARTITIONS_MAX 128u // of one disk
#define NODE_MAX 80u	    // bytes of the path of a device
#define SECTOR 512u	    // unit of sizes in sysfs, whatever the disk's sector size

struct partition {
	uint64_t start, bytes;
};

struct disk {
	char name[64];	     // the kernel's name; may change at each boot, for people only
	char node[NODE_MAX]; // its file below /dev
	dev_t number;
	char serial[256], wwn[256], model[256];
	char vendor[64];      // of SCSI disks
	char transport[16];   // how it is attached, a word of contract/plan.md; empty: unknown
	char path[256];	      // name under /dev/disk/by-path that udev would give
	char path_short[256]; // udev's second, older name for ATA disks; else empty
	char drive[64];	      // the kernel's name of the NVMe drive that it is a namespace of; else empty
	uint64_t bytes;
	uint32_t sector; // logical sector size
	bool rotational, removable, readonly;
	char excluded[64];   // why it is never a candidate (contract/plan.md), else empty
	char foreign[64];    // how it is attached, if other machines may reach it or people move it; else empty
	char in_use[256];    // what uses it, else empty
	char sets[SETS_MAX]; // that it is a member of (disk/contents.c); empty: none, or not read
	bool unread;	     // its edges, its table or a signature could not be read
	char hidden[96];     // bytes that cannot be addressed (drive/hidden.c); empty: none, or not read
	char *parts;	     // "part-uuid:U\n" and "part-label:L\n" of its partitions, likewise; NULL: none
	char *listed;	     // the lines "partition ..." of the facts (disk/contents.c), likewise
	size_t partition_count;
	struct partition partitions[PARTITIONS_MAX];
};

struct disks {
	size_t count;
	struct disk *items;
	char *keep; // selectors that this machine adds to every keep list, joined by ;. NULL: none
};

void disks_free(struct disks *disks);

// Opens it for reading by its file below `root`/dev; -1 if that is missing or, in the system itself, is another device.
int disk_open(const char *root, const struct disk *disk);

// Adds "disk name=... ", as in the facts of contract/report.md, without the LF.
void disk_describe(const struct disk *disk, struct text *text);
