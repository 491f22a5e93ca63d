// SPDX-License-Identifier: Apache-2.0
// The images in a folder, by the first bytes of their digests.
#pragma once

#include "multicast/packet.h"
#include "source/image_file.h"

#define IMAGES_MAX 1024u // images

// The list is kept: a flood of requests for images that do not exist costs one reading of the folder per second, and
// those that exist are found meanwhile.
struct image_folder {
	const char *path;
	int64_t next_read; // of the folder; 0: at once
	uint32_t count;
	struct {
		uint8_t id[SESSION_ID];
		char name[256];
	} images[IMAGES_MAX];
};

// Opens the image whose digest starts with `id`. Files that are no images are passed over. Returns false if there is
// none.
bool image_folder_find(struct image_folder *folder, const uint8_t id[SESSION_ID], int64_t now, struct image_file *ret);
