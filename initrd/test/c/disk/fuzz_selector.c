// SPDX-License-Identifier: Apache-2.0
// Selectors and keep lists, on a table of disks; URL lists.
#include <stdlib.h>
#include <string.h>

#include "disk/choose.h"
#include "disk/several.h"
#include "net/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static struct disk table[] = {
		{.name = "sda", .serial = "S", .wwn = "0x5", .model = "aXbXc", .bytes = 1000, .transport = "sas"},
		{.name = "sdb", .serial = "S", .wwn = "0x5", .model = "aXbXc", .bytes = 1000, .transport = "sas"},
		{.name = "sdc", .serial = "U", .vendor = "V", .bytes = 10, .transport = "usb"},
	};
	static const struct disks disks = {.count = 3, .items = table};
	static struct several several;
	char *text = strndup((const char *)data, size);
	const struct disk *disk;
	struct urls urls;
	struct fault fault;

	(void)choose_disk(&disks, text, NULL, &disk, &fault);
	(void)choose_disk(&disks, "serial:U", text, &disk, &fault);
	(void)several_choose(&disks, text, "serial:U", &several, &fault);
	(void)urls_parse(text, &urls, &fault);
	urls_free(&urls);
	free(text);
	return 0;
}
