// SPDX-License-Identifier: Apache-2.0
// An image of kind root as a block device, which reads the unpacked image from an NFS export and checks each block.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "disk/seam.h"
#include "image/verity.h"
#include "net/api.h"
#include "net/export.h"
#include "node/mapper.h"
#include "verbs/proven.h"
#include "verbs/verbs.h"

#define IDLE_NS seam_idle(300 * SECOND) // long enough for the restart of a server
#define NAME "sled-root"

static const char folder_text[] = "folder that the export is mounted at";

const struct operand_rule detach_rules[] = {
	{"folder", true, folder_text, NULL, NULL},
	{"interrupt", false, "only end the reads that wait for the server, each with an I/O error", "yes", NULL},
	{0},
};
const struct operand_rule attached_rules[] = {{0}};

// Reads a chunk of the unpacked image, as far as the index declares it used. The rest is 0.
static int chunk_read(int file, const struct index *index, uint64_t offset, uint8_t *data, struct fault *fault) {
	const struct chunk *chunk = NULL;
	size_t at = 0, size;
	uint8_t hash[HASH];

	memset(data, 0, CHUNK);
	for (uint32_t i = 0; i < index->chunk_count && !chunk; i++)
		if (index->chunks[i].offset == offset)
			chunk = &index->chunks[i];
	if (!chunk)
		return 0;
	for (size_t from = 0; chunk_run(index, chunk, from, &at, &size); from = at + size)
		if (pread(file, data + at, size, (off_t)(offset + at)) != (ssize_t)size)
			return fault_set(fault, CODE_INTEGRITY, "it is shorter than the image, or cannot be read");
	if (chunk_hash(index, chunk, data, hash) < 0)
		return fault_set(fault, CODE_FAILED, "libcrypto: no SHA-256");
	if (memcmp(hash, chunk->hash, HASH) != 0)
		return fault_set(fault, CODE_INTEGRITY, "it differs from the image at byte %llu",
				 (unsigned long long)offset);
	return 0;
}

// Reads a part of the unpacked image. The hashes of its chunks are those of the index, so the part is proven.
static int part_read(int file, const struct index *index, uint64_t from, uint8_t *ret, size_t size,
		     struct fault *fault) {
	cleanup_free uint8_t *data = malloc(CHUNK);

	if (!data)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "chunk");
	while (size > 0) {
		size_t skip = from % CHUNK, n = size < CHUNK - skip ? size : CHUNK - skip;
		int r = chunk_read(file, index, from - skip, data, fault);
		if (r < 0)
			return r;
		memcpy(ret, data + skip, n);
		ret += n;
		from += n;
		size -= n;
	}
	return 0;
}

static int verity_read(int file, const struct index *index, struct verity *ret, struct fault *fault) {
	uint8_t head[SQUASHFS_HEAD], tree[VERITY_HEAD];
	uint64_t at;
	int r = index->bytes < sizeof(head) ? fault_set(fault, CODE_UNSUPPORTED, "the image is no squashfs")
					    : part_read(file, index, 0, head, sizeof(head), fault);

	if (r == 0)
		r = verity_find(head, index->bytes, &at, fault);
	if (r == 0)
		r = part_read(file, index, at, tree, sizeof(tree), fault);
	return r == 0 ? verity_parse(tree, at, index->bytes, ret, fault) : r;
}

// The file of the export is named after the digest.
static int unpacked_open(const char *folder, const struct image *image, int *ret, struct fault *fault) {
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.squashfs", folder, image->digest + strlen("sha256:"));
	*ret = open(path, O_RDONLY | O_CLOEXEC);
	return *ret < 0 ? fault_errno(fault, errno == ENOENT ? CODE_NETWORK : CODE_FAILED, errno,
				      "%s.squashfs in the export", image->digest + strlen("sha256:"))
			: 0;
}

static int attach(const struct operands *operands, const struct image *image, struct fault *fault) {
	char loop[DEVICE_PATH], device[DEVICE_PATH], table[VERITY_TABLE_MAX];
	const char *folder = operands_get(operands, "folder"), *nfs = operands_get(operands, "nfs");
	cleanup_close int file = -1, held = -1;
	struct verity verity;
	bool is_root = nfs && !strcmp(operands_get_or(operands, "as", ""), "root");
	int r = is_root ? export_mount(nfs, folder, clock_now() + IDLE_NS, fault)
			: fault_set(fault, CODE_USAGE, "the operands nfs= and as=root are required");

	if (r == 0)
		r = unpacked_open(folder, image, &file, fault);
	if (r == 0)
		r = verity_read(file, &image->index, &verity, fault);
	if (r < 0)
		return fault_prefix(fault, r, "%s: ", nfs ? nfs : "attach");
	r = mapper_loop(file, loop, &held, fault);
	if (r < 0)
		return r;
	verity_table(&verity, loop, table);
	r = mapper_create(NAME, "verity", table, verity.blocks * (VERITY_BLOCK / 512), device, fault);
	if (r == 0)
		puts(device);
	return r;
}

enum exit_code verb_attach(const struct operands *operands) {
	cleanup_with(urls_free) struct urls urls = {0};
	cleanup_with(source_close) struct source *source = NULL;
	cleanup_with(image_close) struct image image = {0};
	const char *ca = getenv("SLED_CA");
	struct fault fault;
	int r = urls_parse(operands_get(operands, "image"), &urls, &fault);

	if (r == 0)
		r = source_open(&urls, ca ? ca : DEFAULT_CA, IDLE_NS, &source, &fault);
	if (r == 0)
		r = image_open_proven(source, operands, "attach", &image, &fault);
	if (r == 0)
		r = attach(operands, &image, &fault);
	return r < 0 ? fault_print(&fault, "attach") : CODE_DONE;
}

enum exit_code verb_attached(const struct operands *operands) {
	struct fault fault;
	char state;
	int r = mapper_state(NAME, &state, &fault);

	(void)operands;
	if (r == 0)
		puts(state == 'C' ? "corrupted" : "valid");
	return r < 0 ? fault_print(&fault, "attached") : CODE_DONE;
}

enum exit_code verb_detach(const struct operands *operands) {
	const char *folder = operands_get(operands, "folder");
	struct fault fault;
	int r;

	if (operands_get(operands, "interrupt")) {
		export_interrupt(folder);
		return CODE_DONE;
	}
	r = mapper_remove(NAME, &fault);
	if (r >= 0)
		r = export_unmount(folder, &fault);
	return r < 0 ? fault_print(&fault, "detach") : CODE_DONE;
}
