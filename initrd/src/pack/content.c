// SPDX-License-Identifier: Apache-2.0
#include "pack/content.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"

static int read_signatures(const struct reader *reader, const struct partition *partition, struct probe *ret,
			   struct fault *fault) {
	size_t head_size = partition->bytes < PROBE_HEAD ? (size_t)partition->bytes : PROBE_HEAD;
	size_t tail_size = partition->bytes < PROBE_TAIL ? (size_t)partition->bytes : PROBE_TAIL;
	cleanup_free uint8_t *head = aligned_alloc(READ_ALIGN, PROBE_HEAD), *tail =
		aligned_alloc(READ_ALIGN, PROBE_TAIL);
	int r = head && tail ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "%s", reader->name);

	if (r == 0)
		r = reader_read(reader, head, head_size, partition->start, fault);
	if (r == 0)
		r = reader_read(reader, tail, tail_size, partition->start + partition->bytes - tail_size, fault);
	if (r == 0)
		probe(head, head_size, tail, tail_size, ret);
	return r;
}

static int check_state(const struct reader *reader, const struct partition *partition, struct probe *found,
		       struct fault *fault) {
	int r = found->check && !found->objection
		? found->check(reader, partition, &found->objection, &found->doubt, fault) : 0;

	if (found->kind == CONTENT_SWAP && found->bytes > partition->bytes)
		found->doubt = "its swap header declares more than the partition has";
	if (r == 0 && found->objection)
		r = fault_set(fault, CODE_UNSUPPORTED, "%s: partition at byte %llu, %s: %s", reader->name,
			(unsigned long long)partition->start, found->name, found->objection);
	return r;
}

int content_read(const struct reader *reader, const struct partition *partition, struct content *ret,
		 struct fault *fault) {
	struct probe found;
	int r = read_signatures(reader, partition, &found, fault);

	if (r == 0 && !found.doubt)
		r = check_state(reader, partition, &found, fault);
	if (r < 0)
		return r;
	*ret = (struct content){.kind = found.kind, .copy_at_end = found.copy_at_end, .header = found.header,
		.bytes = found.bytes};
	snprintf(ret->name, sizeof(ret->name), "%s", found.doubt ? "data" : found.name);
	snprintf(ret->doubt, sizeof(ret->doubt), "%s", found.doubt ? found.doubt : "");
	return 0;
}
