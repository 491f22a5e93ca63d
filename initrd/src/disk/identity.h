// SPDX-License-Identifier: Apache-2.0
// The identity of a disk: serial number, World Wide Name, model, place on the bus.
#pragma once

#include "disk/disk.h"

// A value that cannot be found stays empty: an empty text matches no selector.
void identity_find(const char *root, struct disk *disk);

// Serial number from a SCSI "unit serial number" page (0x80). Pure; "" if the page is malformed.
void identity_page80(const unsigned char *page, size_t size, char *ret, size_t ret_size);

// udev's form of the wwid in sysfs: "naa.5000c500..." becomes "0x5000c500...". Other forms stay unchanged, also those
// that the kernel makes (t10., nvme.).
void identity_wwn(const char *wwid, char *ret, size_t ret_size);
