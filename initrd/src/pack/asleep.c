// SPDX-License-Identifier: Apache-2.0
#include "pack/asleep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "disk/lvm.h"

#define SECTOR 512u

bool asleep_in(const uint8_t *head, size_t size) {
	static const char *const marks[] = {"S1SUSPEND", "S2SUSPEND", "ULSUSPEND", "LINHIB0001",
					    "\xed\xc3\x02\xe9\x98\x56\xe5\x0c"};

	for (size_t page = 4096; page <= ASLEEP_HEAD && page <= size; page *= 2)
		for (size_t i = 0; i < ELEMENTS(marks); i++)
			if (!memcmp(head + page - 10, marks[i], strlen(marks[i])))
				return true;
	return false;
}

int asleep_at(const struct reader *reader, uint64_t start, uint64_t bytes, bool *ret, struct fault *fault) {
	size_t size = bytes < ASLEEP_HEAD ? (size_t)bytes : ASLEEP_HEAD;
	cleanup_free uint8_t *head = aligned_alloc(READ_ALIGN, ASLEEP_HEAD);
	int r = head ? reader_read(reader, head, size, start, fault)
		     : fault_errno(fault, CODE_FAILED, ENOMEM, "%s", reader->name);

	*ret = r == 0 && asleep_in(head, size);
	return r;
}

// The number behind the next `key = `; moves *text behind it. Returns false if there is none.
static bool next_number(const char **text, const char *key, uint64_t *ret) {
	const char *at = strstr(*text, key);
	char *end;

	if (!at)
		return false;
	at += strlen(key);
	*ret = strtoull(at, &end, 10);
	*text = end;
	return end > at;
}

// Only the places count that each piece of a volume has here: a swap's first page is one of them.
int asleep_lvm(const struct reader *reader, const struct partition *partition, const char **ret_objection,
	       const char **ret_doubt, struct fault *fault) {
	cleanup_free char *text = NULL;
	uint64_t unit, first, piece;
	const char *at;
	bool asleep = false;
	int r = 0;

	(void)ret_doubt;
	if (!lvm_text(reader, partition->start, partition->bytes, &text))
		return 0;
	at = text;
	if (!next_number(&at, "extent_size = ", &unit) || !next_number(&at, "pe_start = ", &first))
		return 0;
	while (r == 0 && !asleep && (at = strstr(at, "stripes = ["))) {
		at += strcspn(at, ",]");
		if (*at != ',')
			continue;
		piece = strtoull(at + 1, NULL, 10);
		if (unit == 0 || unit > partition->bytes / SECTOR || first > partition->bytes / SECTOR ||
		    piece >= (partition->bytes / SECTOR - first) / unit)
			continue;
		r = asleep_at(reader, partition->start + (first + piece * unit) * SECTOR, unit * SECTOR, &asleep,
			      fault);
	}
	if (asleep)
		*ret_objection = "a system hibernates in one of its volumes: start that system and shut it down";
	return r;
}
