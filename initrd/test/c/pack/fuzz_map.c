// SPDX-License-Identifier: Apache-2.0
// partclone's map and sfdisk's dump: texts of other programs.
#include <stdlib.h>
#include <string.h>

#include "import/dump.h"
#include "pack/map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LIMIT (UINT64_C(1) << 50)
#define START 4096u

static void read_map(char *text) {
	struct map map = {.limit = LIMIT};
	struct extents used = {0};
	struct fault fault;
	char *rest, *line;
	int r = 0;

	for (line = strtok_r(text, "\n", &rest); r == 0 && line; line = strtok_r(NULL, "\n", &rest))
		r = map_line(&map, line, START, &used, &fault);
	extents_settle(&used);
	for (size_t i = 0; i < used.count; i++)
		if (used.items[i].start < START || used.items[i].end > START + LIMIT ||
		    used.items[i].start >= used.items[i].end)
			abort();
	extents_free(&used);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	char *text = malloc(size + 1);
	struct dump dump;
	struct fault fault;

	memcpy(text, data, size);
	text[size] = 0;
	if (dump_parse(text, &dump, &fault) == 0 && dump_disk_bytes(&dump) > UINT64_C(1) << 62 && dump.sector == 512)
		abort();
	read_map(text);
	free(text);
	return 0;
}
