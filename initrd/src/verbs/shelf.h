// SPDX-License-Identifier: Apache-2.0
// The images in a folder, by the first bytes of their digests.
#pragma once

#include "multicast/packet.h"
#include "verbs/opened.h"

#define SHELF_MAX 1024u // images

// The list is kept: a flood of requests for images that do not exist costs one reading of the folder per second, and
// those that exist are found meanwhile.
struct shelf {
	const char *folder;
	int64_t next_read; // of the folder; 0: at once
	uint32_t count;
	struct {
		uint8_t id[SESSION_ID];
		char name[256];
	} images[SHELF_MAX];
};

// Opens the image whose digest starts with `id`. Files that are no images are passed over. False: there is none.
bool shelf_find(struct shelf *shelf, const uint8_t id[SESSION_ID], int64_t now, struct opened *ret);
