// SPDX-License-Identifier: Apache-2.0
// What a disk says of itself: serial number, World Wide Name, model, place on the bus.
#pragma once

#include "disk/disk.h"

// What cannot be found stays empty: an empty text matches no selector.
void identity_find(const char *root, struct disk *disk);

// Serial number of a SCSI "unit serial number" page (0x80). Pure; "" when the page is malformed.
void identity_page80(const unsigned char *page, size_t size, char *ret, size_t ret_size);

// udev's form of sysfs' wwid: "naa.5000c500..." is "0x5000c500...". Others stay, texts made by the kernel (t10., nvme.)
// too.
void identity_wwn(const char *wwid, char *ret, size_t ret_size);
