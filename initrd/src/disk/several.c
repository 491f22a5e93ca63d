// SPDX-License-Identifier: Apache-2.0
#include "disk/several.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "disk/choose.h"
#include "disk/selector.h"
#include "disk/transport.h"

static bool is_kept(const struct disks *disks, const struct disk *disk, const struct keep *keep) {
	bool kept = keep_matches(keep, disk);

	for (size_t i = 0; i < disks->count && !kept; i++)
		kept = transport_same_disk(disk, &disks->items[i]) && keep_matches(keep, &disks->items[i]);
	return kept;
}

static void judge(const struct disks *disks, const struct disk *disk, const struct keep *keep, char left[256],
		  char unfit[256]) {
	const struct disk *first = choose_first_path(disks, disk);

	if (is_kept(disks, disk, keep))
		snprintf(left, 256, "on the keep list");
	else if (disk->excluded[0])
		snprintf(left, 256, "%s", disk->excluded);
	else if (disk->foreign[0])
		snprintf(left, 256, "%s", disk->foreign);
	else if (first != disk)
		snprintf(left, 256, "another path of %s", first->name);
	else
		(void)choose_unfit(disks, disk, keep, unfit, 256);
}

static int choose_all(const struct disks *disks, const char *keep_text, struct several *ret, struct fault *fault) {
	cleanup_with(keep_free) struct keep keep = {0};
	size_t taken = 0;
	int r = choose_keep(disks, keep_text, &keep, fault);

	for (size_t i = 0; r == 0 && i < disks->count; i++) {
		if (!choose_is_disk(&disks->items[i]))
			continue;
		if (ret->count == SEVERAL_MAX)
			return fault_set(fault, CODE_DISK, "disks all: more than %u disks", SEVERAL_MAX);
		ret->items[ret->count].disk = &disks->items[i];
		judge(disks, &disks->items[i], &keep, ret->items[ret->count].left, ret->items[ret->count].unfit);
		taken += !ret->items[ret->count++].left[0];
	}
	if (r == 0 && taken == 0)
		r = fault_set(fault, CODE_DISK, "disks all: there is no disk to take");
	return r;
}

static int choose_one(const struct disks *disks, const char *selector, const char *keep, struct several *ret,
		      struct fault *fault) {
	const struct disk *disk;
	int r = choose_disk(disks, selector, keep, &disk, fault);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ret->count; i++)
		if (ret->items[i].disk == disk)
			return fault_set(fault, CODE_DISK, "disk %s: %s is selected twice", selector, disk->name);
	if (ret->count == SEVERAL_MAX)
		return fault_set(fault, CODE_DISK, "disks: more than %u disks", SEVERAL_MAX);
	ret->items[ret->count++].disk = disk;
	return 0;
}

static int check_whole(const struct disks *disks, const struct several *several, struct fault *fault) {
	const struct disk *taken[SEVERAL_MAX];
	size_t count = 0;

	for (size_t i = 0; i < several->count; i++)
		if (!several->items[i].left[0] && !several->items[i].unfit[0])
			taken[count++] = several->items[i].disk;
	return choose_whole(disks, taken, count, fault);
}

int several_choose(const struct disks *disks, const char *disks_text, const char *keep, struct several *ret,
		   struct fault *fault) {
	cleanup_free char *copy = strdup(disks_text);
	char *rest = copy, *selector;
	int r = 0;

	*ret = (struct several){0};
	if (!copy)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "disks");
	if (!strcmp(disks_text, "all"))
		r = choose_all(disks, keep, ret, fault);
	else
		while (r == 0 && (selector = strsep(&rest, ";")))
			r = choose_one(disks, selector, keep, ret, fault);
	return r == 0 ? check_whole(disks, ret, fault) : r;
}

int several_check(const char *disks_text, struct fault *fault) {
	struct keep selectors = {0};
	int r = 0;

	if (!*disks_text)
		return fault_set(fault, CODE_USAGE, "must be \"all\", or disk selectors joined by ;");
	if (strcmp(disks_text, "all") != 0)
		r = selectors_parse(disks_text, &selectors, fault);
	keep_free(&selectors);
	return r;
}
