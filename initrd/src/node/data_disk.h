// SPDX-License-Identifier: Apache-2.0
// Data disks (contract/plan.md): one partition on a disk that is blank, made once. No other content is ever changed.
#pragma once

#include "disk/device.h"
#include "disk/guid.h"

#define DATA_NAME_MAX 31u // bytes; with "sled-" in front the 36 characters of a partition's name

struct data_disk {
	char name[DATA_NAME_MAX + 1];
	uint8_t id[GUID_BYTES];	  // of the table
	uint8_t part[GUID_BYTES]; // of the partition
};

// Sets the GUID of the partition that a disk with this identity gets. So no two disks of a machine get the same, and
// a table that was written in part is known for what it is.
void data_disk_name(struct data_disk *data, const struct disk *disk);

// Returns 1 if the disk has the partition, whose GUID is then in data->part; 0 if the disk is blank, or has a part
// of the table that data_disk_make would write; an error of code 4 for any other content, or if it cannot be read.
int data_disk_look(struct device *device, struct data_disk *data, struct fault *fault);

// Makes the partition on a disk for which data_disk_look returned 0. May be interrupted, and repeated.
int data_disk_make(struct device *device, const struct data_disk *data, struct fault *fault);
