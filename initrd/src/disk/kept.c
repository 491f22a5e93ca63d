// SPDX-License-Identifier: Apache-2.0
#include "disk/kept.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "disk/filesystem_bytes.h"

#define FILE_MAX ((size_t)PARTITIONS_MAX * 128 + 128)
#define GRANULE_BYTES 4096u // an image knows no smaller unit

int kept_write(const struct kept *kept, const char *path, struct fault *fault) {
	cleanup_with(text_free) struct text text = {0};
	int r;

	text_addf(&text, "%s\n", kept->disk);
	for (unsigned i = 0; i < kept->count; i++) {
		const struct kept_partition *p = &kept->partitions[i];
		text_addf(&text, "%" PRIu64 " %" PRIu64 " %s %" PRIu64 " %" PRIu64 "\n", p->start, p->end, p->content,
			  p->behind, p->within);
	}
	r = text.failed ? -ENOMEM : file_write_atomic(path, 0644, text_string(&text), text.size);
	return r < 0 ? fault_errno(fault, CODE_FAILED, r, "%s", path) : 0;
}

static bool parse_line(const char *line, struct kept_partition *ret) {
	int end = 0;

	return sscanf(line, "%" SCNu64 " %" SCNu64 " %16s %" SCNu64 " %" SCNu64 "%n", &ret->start, &ret->end,
		      ret->content, &ret->behind, &ret->within, &end) == 5 &&
	       line[end] == '\n';
}

int kept_read(const char *path, const char *disk, struct kept *ret, struct fault *fault) {
	cleanup_free char *text = NULL;
	size_t size = 0, name = strlen(disk);
	int r = file_read(path, FILE_MAX, &text, &size);

	*ret = (struct kept){0};
	if (r < 0 && r != -ENOENT)
		return fault_errno(fault, CODE_FAILED, r, "%s", path);
	if (r < 0 || strncmp(text, disk, name) != 0 || text[name] != '\n')
		return fault_set(fault, CODE_FAILED, "no image was written to %s since this system started", disk);
	for (const char *line = text + name + 1; *line; line = strchr(line, '\n') + 1)
		if (ret->count == PARTITIONS_MAX || !parse_line(line, &ret->partitions[ret->count++]))
			return fault_set(fault, CODE_FAILED, "%s is damaged", path);
	snprintf(ret->disk, sizeof(ret->disk), "%s", disk);
	return 0;
}

const struct kept_partition *kept_find(const struct kept *kept, uint64_t start, uint64_t end) {
	for (unsigned i = 0; i < kept->count; i++) {
		const struct kept_partition *p = &kept->partitions[i];
		if (p->start == start && p->end <= end && (!p->behind || p->end == end || p->behind >= end))
			return p;
	}
	return NULL;
}

// Where the next partition starts; UINT64_MAX: there is none.
static uint64_t next_start(const struct kept *kept, uint64_t end) {
	for (unsigned i = 0; i < kept->count; i++)
		if (kept->partitions[i].start >= end)
			return kept->partitions[i].start / GRANULE_BYTES * GRANULE_BYTES;
	return UINT64_MAX;
}

bool kept_forbids(const struct kept *kept) {
	for (unsigned i = 0; i < kept->count; i++) {
		const struct kept_partition *p = &kept->partitions[i];
		if (p->within || (content_can_grow(p->content) && p->behind && p->behind < next_start(kept, p->end)))
			return true;
	}
	return false;
}
