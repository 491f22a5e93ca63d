// SPDX-License-Identifier: Apache-2.0
#include "disk/choose.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/operand.h"
#include "disk/transport.h"

static bool candidate(const struct disk *disk) { return !disk->excluded[0]; }

static bool keep_names_partitions(const struct keep *keep) {
	for (size_t i = 0; i < keep->count; i++)
		if (selector_has(&keep->selectors[i], TERM_PART_UUID) ||
		    selector_has(&keep->selectors[i], TERM_PART_LABEL))
			return true;
	return false;
}

// Sets `why` if the path must not be written, whatever the selector. False: it may be written.
static bool unfit_path(const struct disk *disk, const struct keep *keep, char *why, size_t size) {
	*why = 0;
	if (disk->excluded[0])
		snprintf(why, size, "%s", disk->excluded);
	else if (keep_matches(keep, disk))
		snprintf(why, size, "on the keep list");
	else if (disk->unread && keep_names_partitions(keep))
		snprintf(why, size, "not readable, and the keep list names a partition");
	else if (disk->readonly)
		snprintf(why, size, "read-only");
	else if (disk->in_use[0])
		snprintf(why, size, "%s", disk->in_use);
	return *why;
}

bool choose_unfit(const struct disks *disks, const struct disk *disk, const struct keep *keep, char *why, size_t size) {
	bool unfit = unfit_path(disk, keep, why, size);

	for (size_t i = 0; i < disks->count && !unfit; i++)
		if (transport_same_disk(disk, &disks->items[i]))
			unfit = unfit_path(&disks->items[i], keep, why, size);
	return unfit;
}

const struct disk *choose_first_path(const struct disks *disks, const struct disk *disk) {
	for (const struct disk *other = disks->items; other < disk; other++)
		if (candidate(other) && transport_same_disk(disk, other))
			return other;
	return disk;
}

bool choose_is_disk(const struct disk *disk) {
	return !disk->excluded[0] || !strcmp(disk->excluded, "removable") || !strcmp(disk->excluded, "without a size");
}

static bool keeps_one(const struct selector *selector, const struct disks *disks) {
	for (size_t i = 0; i < disks->count; i++)
		if (choose_is_disk(&disks->items[i]) && selector_matches(selector, &disks->items[i]))
			return true;
	return false;
}

// Parses a keep list, and that of the machine behind it.
static int parse_keep(const struct disks *disks, const char *text, struct keep *ret, struct fault *fault) {
	struct keep more = {0};
	int r;

	*ret = (struct keep){0};
	r = text ? keep_parse(text, ret, fault) : 0;
	if (r < 0)
		return fault_prefix(fault, r, "keep: ");
	r = disks->keep ? keep_parse(disks->keep, &more, fault) : 0;
	if (r == 0 && ret->count + more.count > KEEP_MAX)
		r = fault_set(fault, CODE_USAGE, "more than %u selectors with those of the plan", KEEP_MAX);
	if (r < 0) {
		keep_free(&more);
		return fault_prefix(fault, r, "keep of this machine (sled.keep, /etc/sled/keep): ");
	}
	for (size_t i = 0; i < more.count; i++)
		ret->selectors[ret->count++] = more.selectors[i];
	return 0;
}

int choose_keep(const struct disks *disks, const char *text, struct keep *ret, struct fault *fault) {
	int r = parse_keep(disks, text, ret, fault);

	for (size_t i = 0; r == 0 && i < ret->count; i++)
		if (!keeps_one(&ret->selectors[i], disks))
			return fault_set(
				fault, CODE_DISK,
				"keep %s: no disk matches; correct the entry, or remove it if its disk is gone",
				ret->selectors[i].text);
	return r;
}

static int parse(const struct disks *disks, const char *selector_text, const char *keep_text, struct selector *selector,
		 struct keep *keep, struct fault *fault) {
	int r = selector_text ? selector_parse(selector_text, selector, fault) : 0;
	if (r < 0)
		return fault_prefix(fault, r, "disk: ");
	return parse_keep(disks, keep_text, keep, fault);
}

// Whether an earlier path of the same disk matched already.
static bool is_counted(const struct disks *disks, const struct selector *selector, const struct disk *disk) {
	for (const struct disk *other = disks->items; other < disk; other++)
		if (candidate(other) && transport_same_disk(disk, other) && selector_chooses(selector, other))
			return true;
	return false;
}

// How many disks match; each counts once, whatever its paths. Sets `match` to one of them, NULL for none.
static size_t count_matches(const struct disks *disks, const struct selector *selector, const struct disk **match) {
	bool smallest = selector_has(selector, TERM_SMALLEST);
	size_t matches = 0;

	*match = NULL;
	for (size_t i = 0; i < disks->count; i++) {
		const struct disk *disk = &disks->items[i];
		if (!candidate(disk) || !selector_chooses(selector, disk) || is_counted(disks, selector, disk))
			continue;
		if (smallest && matches && disk->bytes > (*match)->bytes)
			continue;
		if (smallest && matches && disk->bytes < (*match)->bytes)
			matches = 0;
		*match = disk;
		matches++;
	}
	return matches;
}

int choose_disk(const struct disks *disks, const char *selector_text, const char *keep_text, const struct disk **ret,
		struct fault *fault) {
	cleanup_with(selector_free) struct selector selector = {0};
	cleanup_with(keep_free) struct keep keep = {0};
	const struct disk *match;
	char why[256];
	size_t matches;
	int r = selector_parse(selector_text, &selector, fault);

	r = r < 0 ? fault_prefix(fault, r, "disk: ") : choose_keep(disks, keep_text, &keep, fault);
	if (r < 0)
		return r;
	matches = count_matches(disks, &selector, &match);
	if (matches == 0)
		return fault_set(fault, CODE_DISK, "disk %s: no disk matches", selector_text);
	if (matches > 1)
		return fault_set(fault, CODE_DISK, "disk %s: %zu disks match", selector_text, matches);
	match = choose_first_path(disks, match);
	if (choose_unfit(disks, match, &keep, why, sizeof(why)))
		return fault_set(fault, CODE_DISK, "disk %s: %s is %s", selector_text, match->name, why);
	*ret = match;
	return 0;
}

static bool is_among(const struct disk *disk, const struct disk *const taken[], size_t count) {
	for (size_t i = 0; i < count; i++)
		if (disk == taken[i] || transport_same_disk(disk, taken[i]))
			return true;
	return false;
}

int choose_whole(const struct disks *disks, const struct disk *const taken[], size_t count, struct fault *fault) {
	char set[SETS_MAX];

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < disks->count; k++) {
			const struct disk *other = &disks->items[k];
			if (!choose_is_disk(other) || is_among(other, taken, count))
				continue;
			if (other->unread && taken[i]->sets[0])
				return fault_set(fault, CODE_DISK,
						 "%s (serial %s) is a member of the set %s, and %s (serial %s), which "
						 "this step does not take, cannot be read: it may be another member",
						 taken[i]->name, taken[i]->serial, taken[i]->sets, other->name,
						 other->serial);
			if (!sets_share(taken[i]->sets, other->sets, set, sizeof(set)))
				continue;
			return fault_set(
				fault, CODE_DISK,
				"%s (serial %s) is a member of the set %s, and so is %s (serial %s), which this step "
				"does not take: wipe all its members in one step, or keep all",
				taken[i]->name, taken[i]->serial, set, other->name, other->serial);
		}
	return 0;
}

static void mismatch(const struct selector *selector, const struct disk *disk, char *why, size_t size) {
	if (!selector_matches(selector, disk))
		snprintf(why, size, "does not match");
	else if (!selector_chooses(selector, disk))
		snprintf(why, size, "%s: name it by serial, wwn or path",
			 disk->foreign[0] ? disk->foreign : "attached in an unknown way");
}

int choose_list(const struct disks *disks, const char *selector_text, const char *keep_text, struct text *text,
		struct fault *fault) {
	cleanup_with(selector_free) struct selector selector = {0};
	cleanup_with(keep_free) struct keep keep = {0};
	int r = parse(disks, selector_text, keep_text, &selector, &keep, fault);

	if (r < 0)
		return r;
	for (size_t i = 0; i < disks->count; i++) {
		const struct disk *disk = &disks->items[i];
		char why[256];
		if (disk->bytes == 0) // an empty drive, a loop device without a file
			continue;
		if (!choose_unfit(disks, disk, &keep, why, sizeof(why)) && selector_text)
			mismatch(&selector, disk, why, sizeof(why));
		disk_describe(disk, text);
		operand_write(text, "why", why);
		text_addf(text, "\n%s", disk->listed ? disk->listed : "");
	}
	return text->failed ? fault_errno(fault, CODE_FAILED, ENOMEM, "list of disks") : 0;
}
