// SPDX-License-Identifier: Apache-2.0
// Selectors and keep lists, matched against a disk; URL lists.
#include <stdlib.h>
#include <string.h>

#include "disk/selector.h"
#include "net/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static const struct disk disk = {.serial = "S", .model = "aXbXc", .bytes = 1000};
	char *text = strndup((const char *)data, size);
	struct keep keep;
	struct urls urls;
	struct fault fault;

	if (keep_parse(text, &keep, &fault) == 0)
		(void)keep_matches(&keep, &disk);
	keep_free(&keep);
	(void)urls_parse(text, &urls, &fault);
	urls_free(&urls);
	free(text);
	return 0;
}
