// SPDX-License-Identifier: Apache-2.0
#include "pack/content.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "disk/disklabel.h"
#include "pack/signatures.h"

// Without the first `skip` bytes.
static int read_signatures(const struct reader *reader, const struct partition *partition, size_t skip,
			   struct probe *ret, struct fault *fault) {
	size_t head_size = partition->bytes < PROBE_HEAD ? (size_t)partition->bytes : PROBE_HEAD;
	size_t tail_size = partition->bytes < PROBE_TAIL ? (size_t)partition->bytes : PROBE_TAIL;
	cleanup_free uint8_t *head = aligned_alloc(READ_ALIGN, PROBE_HEAD),
			     *tail = aligned_alloc(READ_ALIGN, PROBE_TAIL);
	int r = head && tail ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "%s", reader->name);

	if (r == 0)
		r = reader_read(reader, head, head_size, partition->start, fault);
	if (r == 0)
		r = reader_read(reader, tail, tail_size, partition->start + partition->bytes - tail_size, fault);
	if (r < 0)
		return r;
	memset(head, 0, skip < head_size ? skip : head_size);
	probe(head, head_size, tail, tail_size, ret);
	return 0;
}

int content_beside_label(const struct reader *reader, const struct partition *partition, enum beside_label *ret,
			 struct fault *fault) {
	struct signatures signatures;
	struct probe found;
	bool is_ufs;
	int r = read_signatures(reader, partition, DISKLABEL_AT + DISKLABEL_BYTES, &found, fault);

	if (r == 0)
		r = signatures_read(reader, partition, &signatures, fault);
	if (r < 0)
		return r;
	is_ufs = found.is_known && !strcmp(found.name, "ufs");
	if (found.doubt || is_ufs != found.is_known || (is_ufs && signatures.count == 0) || signatures.is_damaged ||
	    signatures.count > 1 || (signatures.count == 1 && strcmp(signatures.name, "ufs")))
		*ret = BESIDE_OTHER;
	else
		*ret = is_ufs ? BESIDE_UFS : BESIDE_NOTHING;
	return 0;
}

static bool is_same(const char *a, const char *b) {
	return !strcmp(a, b) || (!strncmp(a, "ext", 3) && !strncmp(b, "ext", 3));
}

// A content is believed only if libblkid finds the same one and no other, and no table of partitions.
static int confirm(const struct reader *reader, const struct partition *partition, struct probe *found,
		   struct content *ret, struct fault *fault) {
	struct signatures signatures;
	int r = signatures_read(reader, partition, &signatures, fault);

	if (r < 0)
		return r;
	ret->is_unknown = !found->is_known && signatures.count == 0 && !signatures.table[0];
	if (signatures.count > 1)
		snprintf(ret->doubt, sizeof(ret->doubt), "it has signatures of more than one content (%s)",
			 signatures.names);
	else if (signatures.table[0] && found->kind != CONTENT_ALL)
		snprintf(ret->doubt, sizeof(ret->doubt), "there is a partition table in it (%s)", signatures.table);
	else if (signatures.count == 0 && found->kind != CONTENT_ALL)
		snprintf(ret->doubt, sizeof(ret->doubt), "libblkid does not find the %s in it", found->name);
	else if (signatures.count == 1 && found->kind != CONTENT_ALL && !is_same(signatures.name, found->name))
		snprintf(ret->doubt, sizeof(ret->doubt), "it has signatures of more than one content (%s, %s)",
			 found->name, signatures.names);
	else if (signatures.is_damaged && found->kind != CONTENT_ALL)
		snprintf(ret->doubt, sizeof(ret->doubt), "the checksum of its superblock is wrong");
	else if (signatures.count == 1 && !found->is_known)
		snprintf(ret->name, sizeof(ret->name), "%s", signatures.name);
	return 0;
}

static int check_state(const struct reader *reader, const struct partition *partition, struct probe *found,
		       struct fault *fault) {
	int r = found->check && !found->objection
			? found->check(reader, partition, &found->objection, &found->doubt, fault)
			: 0;

	if (found->kind == CONTENT_SWAP && found->bytes > partition->bytes)
		found->doubt = "its swap header declares more than the partition has";
	if (r == 0 && found->objection)
		r = fault_set(fault, CODE_UNSUPPORTED, "%s: partition at byte %llu, %s: %s", reader->name,
			      (unsigned long long)partition->start, found->name, found->objection);
	return r;
}

// The table is newer than what was left there by a content before.
static bool contradicts(enum partition_type type, enum content_kind kind) {
	return (type == PARTITION_OTHER && kind != CONTENT_ALL) ||
	       (type == PARTITION_SWAP && kind == CONTENT_FILESYSTEM);
}

int content_read(const struct reader *reader, const struct partition *partition, enum partition_type type,
		 struct content *ret, struct fault *fault) {
	struct probe found;
	int r = read_signatures(reader, partition, 0, &found, fault);

	*ret = (struct content){0};
	if (r == 0 && !found.doubt && contradicts(type, found.kind))
		found.doubt = "its type in the partition table is that of something else";
	if (r == 0 && !found.doubt)
		r = confirm(reader, partition, &found, ret, fault);
	if (r == 0 && !found.doubt && !ret->doubt[0])
		r = check_state(reader, partition, &found, fault);
	if (r < 0)
		return r;
	ret->kind = found.kind;
	ret->copy_at_end = found.copy_at_end;
	ret->header = found.header;
	ret->bytes = found.bytes;
	if (found.doubt)
		snprintf(ret->doubt, sizeof(ret->doubt), "%s", found.doubt);
	if (!ret->name[0])
		snprintf(ret->name, sizeof(ret->name), "%s", ret->doubt[0] ? "data" : found.name);
	return 0;
}
