// SPDX-License-Identifier: Apache-2.0
// A physical volume of LVM2, the text of its metadata, and names of sets.
#include <stdlib.h>
#include <string.h>

#include "disk/lvm.h"
#include "disk/sets.h"
#include "pack/asleep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	const struct reader reader = {.name = "memory", .bytes = size, .fd = -1, .memory = data};
	char sets[SETS_MAX] = "", ret[SETS_MAX], *text = strndup((const char *)data, size);
	const struct partition whole = {.bytes = size};
	const char *objection = NULL, *doubt = NULL;
	struct lvm_group group;
	struct fault fault;

	if (lvm_read(&reader, 0, size, &group) && memchr(group.id, 0, sizeof(group.id)) == NULL)
		abort();
	if (lvm_parse((const char *)data, size, &group) != !!group.id[0])
		abort();
	if (asleep_lvm(&reader, &whole, &objection, &doubt, &fault) < 0)
		abort();
	for (unsigned i = 0; i < 9; i++) {
		sets_add(sets, i % 2 ? "md" : "lvm", text + (strlen(text) > i ? i : 0));
		if (strlen(sets) >= SETS_MAX || !sets_share(sets, sets, ret, sizeof(ret)))
			abort();
	}
	(void)sets_share(text, sets, ret, sizeof(ret));
	free(text);
	return 0;
}
