// SPDX-License-Identifier: Apache-2.0
// A tree as veritysetup 2.6.1 makes it of two blocks, and each field of it wrong.
#include <stdlib.h>

#include "base/bytes.h"
#include "image/verity.h"
#include "tap.h"

#define IMAGE (4 * VERITY_BLOCK) // two blocks of data, superblock, hashes
#define ROOT "2c030e8c94ee8e78b5cffb7eec17c3d12aaf565484212fd1c3bb3e8c87681c83"
#define SALTED "17fcdc2915b6dc3eb3d63cc84a627a7dd448dd57418c2b5797a67b48921c7226"

enum { AT = 2 * VERITY_BLOCK };
static uint8_t head[VERITY_HEAD], squashfs[SQUASHFS_HEAD];
static struct fault fault;

// SHA-256 of both blocks of data: the first is "hsqs", 36 zeros, 5000 and zeros, the second zeros.
static const char *const hashes[] = {
	"0ca132e3b7814c65faaf172d4be284e27b19ad4d58d49204245baf1339d3aabc",
	"ad7facb2586fc6e966c004d7d1d16b024f5805ff7cb47c7a85dabd8b48892ca7",
};
static const char *const salted[] = {
	"0d45027f6ad2bfdd6daaa564364ee4bd1af26f9aeb468b94e326427526e15b22",
	"7ec8dda1b53ca958f13d08bcb7f8320234bed38c694eaebd9bd43bbfbf4d742f",
};

static void put_hashes(const char *const texts[]) {
	for (size_t i = 0; i < 2 * HASH; i++) {
		char pair[3] = {texts[i / HASH][i % HASH * 2], texts[i / HASH][i % HASH * 2 + 1]};
		head[VERITY_BLOCK + i] = (uint8_t)strtoul(pair, NULL, 16);
	}
}

static void fill(void) {
	memset(head, 0, sizeof(head));
	memset(squashfs, 0, sizeof(squashfs));
	memcpy(squashfs, "hsqs", 4);
	put_le64(squashfs + 40, 5000);
	memcpy(head, "verity", 6);
	put_le32(head + 8, 1);
	put_le32(head + 12, 1);
	memcpy(head + 32, "sha256", 6);
	put_le32(head + 64, VERITY_BLOCK);
	put_le32(head + 68, VERITY_BLOCK);
	put_le64(head + 72, 2);
	put_hashes(hashes);
}

static int parse(struct verity *ret) { return verity_parse(head, AT, IMAGE, ret, &fault); }

static void is_table(const char *wanted, const char *name) {
	struct verity verity;
	char table[VERITY_TABLE_MAX];

	if (!ok(parse(&verity) == 0, "%s is read", name))
		return;
	verity_table(&verity, "/dev/loop0", table);
	same(table, wanted, "the table of %s", name);
}

static void right(void) {
	uint64_t at = 0;

	ok(verity_find(squashfs, IMAGE, &at, &fault) == 0 && at == AT, "the tree begins behind the squashfs");
	is_table("1 /dev/loop0 /dev/loop0 4096 4096 2 3 sha256 " ROOT " -", "a tree without a salt");
	put_le16(head + 80, 4);
	memcpy(head + 88, "\x00\x11\x22\x33", 4);
	put_hashes(salted);
	is_table("1 /dev/loop0 /dev/loop0 4096 4096 2 3 sha256 " SALTED " 00112233", "a tree with a salt");
}

static void wrong(void) {
	static const struct {
		unsigned at;
		uint8_t byte;
		const char *what;
	} cases[] = {
		{0, 'V', "another magic"},   {8, 2, "another version"},	  {12, 0, "hash type 0"},
		{35, '5', "another digest"}, {65, 0x20, "another block"}, {69, 0x20, "another block of hashes"},
		{72, 1, "one block"},	     {72, 3, "more blocks"},	  {79, 1, "very many blocks"},
		{81, 2, "a long salt"},
	};
	struct verity verity;
	uint64_t at;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fill();
		head[cases[i].at] = cases[i].byte;
		ok(parse(&verity) < 0 && fault.code == CODE_UNSUPPORTED, "%s", cases[i].what);
	}
	fill();
	ok(verity_parse(head, AT, IMAGE - 1, &verity, &fault) < 0, "a tree that was cut off");
	ok(verity_find(squashfs, AT, &at, &fault) < 0, "no tree");
	ok(verity_find(squashfs, 4999, &at, &fault) < 0, "a squashfs that was cut off");
	memset(squashfs + 40, 0xff, 8);
	ok(verity_find(squashfs, UINT64_MAX, &at, &fault) < 0, "a squashfs of 2^64 bytes");
	memset(squashfs + 40, 0, 8);
	ok(verity_find(squashfs, IMAGE, &at, &fault) < 0, "an empty squashfs");
	squashfs[0] = 'H';
	ok(verity_find(squashfs, IMAGE, &at, &fault) < 0, "no squashfs");
}

int main(void) {
	fill();
	right();
	wrong();
	return tap_done();
}
