// SPDX-License-Identifier: Apache-2.0
// Images of more than 2 TiB of used bytes: how many chunks a map needs, what is refused before anything is read, and an
// index beyond what each machine reads.
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "image/layout.h"
#include "pack/chunks.h"
#include "tap.h"

#define TIB ((uint64_t)1 << 40)
#define MEMORY ((uint64_t)2048 * 1024) // of the machine below `root`

static int plan(uint64_t bytes, const struct extent *kept, size_t count, struct index *ret, struct fault *fault) {
	struct reader reader = {.name = "disk", .bytes = bytes, .fd = -1};
	struct usedmap map = {.sector = 512};
	int r;

	for (size_t i = 0; i < count; i++)
		extents_add(&map.kept, kept[i].start, kept[i].end);
	extents_settle(&map.kept);
	r = chunks_plan(&reader, &map, ret, fault);
	usedmap_free(&map);
	return r;
}

static void test_plan(void) {
	cleanup_with(index_free) struct index large = {0}, shared = {0}, none = {0};
	struct fault fault = {0};
	const struct extent most = {0, 2 * TIB + CHUNK + 1}, beyond = {0, 32 * TIB + 1};
	const struct extent same_chunk[] = {{10, 20}, {CHUNK - 5000, 2 * CHUNK}, {2 * CHUNK + 9000, 3 * CHUNK - 9000}};

	ok(plan(3 * TIB, &most, 1, &large, &fault) == 0 && large.chunk_count == CHUNKS_ALWAYS + 2, "over 2 TiB: %s",
	   fault.text);
	ok(plan(3 * CHUNK, same_chunk, 3, &shared, &fault) == 0 && shared.chunk_count == 3, "extents share chunks");
	ok(shared.chunk_count == 3 && shared.chunks[2].offset == 2 * CHUNK && shared.chunks[1].used[0] == 0xff,
	   "each once, in order");
	ok(plan(40 * TIB, &beyond, 1, &none, &fault) < 0 && fault.code == CODE_UNSUPPORTED && !none.chunks,
	   "over 32 TiB: %s", fault.text);
	ok(strstr(fault.text, "33554433 chunks") != NULL, "with how many there are");
}

// The frames of such an image would be terabytes; its index is not.
static void test_index(void) {
	cleanup_with(index_free) struct index index = {.bytes = 3 * TIB, .sector = 512}, again = {0};
	cleanup_free uint8_t *data = NULL;
	struct fault fault = {0};
	size_t size = 0;

	index.chunk_count = CHUNKS_ALWAYS + 2;
	index.chunks = calloc(index.chunk_count, sizeof(*index.chunks));
	for (uint32_t i = 0; index.chunks && i < index.chunk_count; i++)
		index.chunks[i] = (struct chunk){.offset = i * CHUNK, .frame = FRAME_MAX, .used = {1}};
	ok(index.chunks && (index_lay_out(&index), index_encode(&index, &data, &size)) == 0, "an index is written");
	ok(index_parse(data, size, &again, &fault) == 0 && again.chunk_count == index.chunk_count, "is read: %s",
	   fault.text);
	ok(again.chunk_count && again.chunks[CHUNKS_ALWAYS + 1].at == (CHUNKS_ALWAYS + 1ull) * FRAME_MAX,
	   "with places beyond 2 TiB");
	ok(file_size(&again, size) == index_end(&again) + size + 3 * SKIPPABLE + TRAILER + SEEK_FOOTER +
					      8ull * (index.chunk_count + 2 + (3 * TIB - 2 * TIB) / (64 * CHUNK)),
	   "and the seek table that follows");
}

static void test_memory(void) {
	static const char meminfo[] = "MemTotal:        4096 kB\nMemAvailable:    2048 kB\n";
	char root[256], path[300];
	struct fault fault = {0};
	const char *folder = getenv("TMPDIR");

	snprintf(root, sizeof(root), "%s/machine-XXXXXX", folder ? folder : "/tmp");
	ok(mkdtemp(root) != NULL, "a folder");
	snprintf(path, sizeof(path), "%s/proc", root);
	mkdir(path, 0700);
	ok(memory_check(root, UINT64_MAX, "it", &fault) == 0, "nothing is known of this machine");
	snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	ok(file_write_atomic(path, 0600, meminfo, strlen(meminfo)) == 0, "a machine");
	ok(memory_check(root, MEMORY - 1024, "it", &fault) == 0, "as much as there is");
	ok(memory_check(root, MEMORY, "it", &fault) < 0 && fault.code == CODE_UNSUPPORTED, "not more");
	same(fault.text, "it needs 2 MiB of memory; this machine has 2 MiB left", "with both numbers");
	ok(index_room(CHUNKS_ALWAYS, &fault) == 0, "2 TiB are read without a question");
	ok(index_room(UINT64_C(1) << 40, &fault) < 0 && fault.code == CODE_UNSUPPORTED, "what nobody has: %s",
	   fault.text);
}

int main(void) {
	test_plan();
	test_index();
	test_memory();
	return tap_done();
}
