// SPDX-License-Identifier: Apache-2.0
#include "disk/choose.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/operand.h"

static bool candidate(const struct disk *disk) { return !disk->excluded[0]; }

// Sets `why` if the disk must not be written, whatever the selector. False: it may be written.
static bool unfit(const struct disk *disk, const struct keep *keep, char *why, size_t size) {
	*why = 0;
	if (disk->excluded[0])
		snprintf(why, size, "%s", disk->excluded);
	else if (keep_matches(keep, disk))
		snprintf(why, size, "on the keep list");
	else if (disk->readonly)
		snprintf(why, size, "read-only");
	else if (disk->in_use[0])
		snprintf(why, size, "%s", disk->in_use);
	return *why;
}

bool choose_is_disk(const struct disk *disk) {
	return !disk->excluded[0] || !strcmp(disk->excluded, "removable") ||
	       !strcmp(disk->excluded, "without a size");
}

static bool keeps_one(const struct selector *selector, const struct disks *disks) {
	for (size_t i = 0; i < disks->count; i++)
		if (choose_is_disk(&disks->items[i]) && selector_matches(selector, &disks->items[i]))
			return true;
	return false;
}

int choose_keep(const struct disks *disks, const char *text, struct keep *ret, struct fault *fault) {
	int r;

	*ret = (struct keep){0};
	r = text ? keep_parse(text, ret, fault) : 0;
	if (r < 0)
		return fault_prefix(fault, r, "keep: ");
	for (size_t i = 0; i < ret->count; i++)
		if (!keeps_one(&ret->selectors[i], disks))
			return fault_set(fault, CODE_DISK,
				"keep %s: no disk matches; correct the entry, or remove it if its disk is gone",
				ret->selectors[i].text);
	return 0;
}

static int parse(const char *selector_text, const char *keep_text, struct selector *selector, struct keep *keep,
		 struct fault *fault) {
	int r = selector_text ? selector_parse(selector_text, selector, fault) : 0;
	if (r < 0)
		return fault_prefix(fault, r, "disk: ");
	r = keep_text ? keep_parse(keep_text, keep, fault) : 0;
	return r < 0 ? fault_prefix(fault, r, "keep: ") : 0;
}

int choose_disk(const struct disks *disks, const char *selector_text, const char *keep_text, const struct disk **ret,
		struct fault *fault) {
	cleanup_with(selector_free) struct selector selector = {0};
	cleanup_with(keep_free) struct keep keep = {0};
	const struct disk *match = NULL;
	size_t matches = 0;
	char why[256];
	int r = selector_parse(selector_text, &selector, fault);

	r = r < 0 ? fault_prefix(fault, r, "disk: ") : choose_keep(disks, keep_text, &keep, fault);
	if (r < 0)
		return r;
	for (size_t i = 0; i < disks->count; i++) {
		const struct disk *disk = &disks->items[i];
		if (candidate(disk) && selector_matches(&selector, disk)) {
			match = disk;
			matches++;
		}
	}
	if (matches == 0)
		return fault_set(fault, CODE_DISK, "disk %s: no disk matches", selector_text);
	if (matches > 1)
		return fault_set(fault, CODE_DISK, "disk %s: %zu disks match", selector_text, matches);
	if (unfit(match, &keep, why, sizeof(why)))
		return fault_set(fault, CODE_DISK, "disk %s: %s is %s", selector_text, match->name, why);
	*ret = match;
	return 0;
}

int choose_list(const struct disks *disks, const char *selector_text, const char *keep_text, struct text *text,
		struct fault *fault) {
	cleanup_with(selector_free) struct selector selector = {0};
	cleanup_with(keep_free) struct keep keep = {0};
	int r = parse(selector_text, keep_text, &selector, &keep, fault);

	if (r < 0)
		return r;
	for (size_t i = 0; i < disks->count; i++) {
		const struct disk *disk = &disks->items[i];
		char why[256];
		if (disk->bytes == 0) // an empty drive, a loop device without a file
			continue;
		if (!unfit(disk, &keep, why, sizeof(why)) && selector_text && !selector_matches(&selector, disk))
			snprintf(why, sizeof(why), "does not match");
		disk_describe(disk, text);
		operand_write(text, "why", why);
		text_adds(text, "\n");
	}
	return text->failed ? fault_errno(fault, CODE_FAILED, ENOMEM, "list of disks") : 0;
}
