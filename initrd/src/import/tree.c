// SPDX-License-Identifier: Apache-2.0
#include "import/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/child.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/scratch.h"
#include "disk/in_use.h"
#include "import/landing.h"

#define TABLE_MAX 65536u // bytes of an sfdisk dump
#define PIECES_MAX 4096u // files of one partition
#define TIMEOUT (60 * SECOND)
#define MEBIBYTE ((uint64_t)1 << 20)
#define SWAP_LABEL 16u // bytes of it in a header

bool tree_has(const struct tree *tree, const char *name) { return faccessat(tree->dir, name, R_OK, 0) == 0; }

int tree_open(struct tree *tree, const char *table, uint64_t bytes, struct fault *fault) {
	cleanup_close int fd = openat(tree->dir, table, O_RDONLY | O_CLOEXEC);
	cleanup_free char *text = NULL;
	int r = fd < 0 ? -errno : file_read_fd(fd, TABLE_MAX, &text, NULL);

	if (r < 0)
		return fault_errno(fault, CODE_UNSUPPORTED, r, "reading its table, the file %s", table);
	r = dump_parse(text, &tree->table, fault);
	if (r < 0)
		return r;
	if (dump_disk_bytes(&tree->table) > bytes)
		bytes = dump_disk_bytes(&tree->table);
	r = tree->disk = scratch_open(tree->room->folder, fault);
	if (r >= 0 && ftruncate(tree->disk, (off_t)bytes) < 0)
		return fault_errno(fault, CODE_UNSUPPORTED, errno, "a temporary file of %llu bytes",
				   (unsigned long long)bytes);
	return r < 0 ? r : 0;
}

int tree_write_table(struct tree *tree, const char *table, struct fault *fault) {
	cleanup_close int in = openat(tree->dir, table, O_RDONLY | O_CLOEXEC);
	const char *const words[] = {"sfdisk",		 "--quiet",   "--force", "--no-reread",
				     "--no-tell-kernel", JAIL_FILE_0, NULL};
	struct jail jail = import_jail(UINT64_MAX); // of a sparse file: the table at its end too

	if (in < 0)
		return fault_errno(fault, CODE_UNSUPPORTED, errno, "%s", table);
	if (tree->table.sector != 512)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "its disk has sectors of %u bytes: sfdisk cannot write such a table to a file",
				 tree->table.sector);
	jail.files[jail.file_count++] = (struct jail_file){tree->disk, true};
	return child_run_jailed(words, in, -1, &jail, clock_now() + TIMEOUT, fault);
}

int tree_write_file(struct tree *tree, const char *name, uint64_t skip, uint64_t size, uint64_t at,
		    struct fault *fault) {
	cleanup_close int fd = openat(tree->dir, name, O_RDONLY | O_CLOEXEC);
	cleanup_free uint8_t *data = malloc(size);
	ssize_t n;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || !data || (n = pread(fd, data, size, (off_t)skip)) < 0 ||
	    pwrite(tree->disk, data, (size_t)n, (off_t)at) != n)
		return fault_errno(fault, CODE_FAILED, errno, "%s", name);
	return 0;
}

// The files of one partition, as arguments of cat.
struct pieces {
	size_t count;
	char *words[PIECES_MAX + 2]; // "cat", files, NULL
};

static void pieces_free(struct pieces *pieces) {
	for (size_t i = 0; i < pieces->count; i++)
		free(pieces->words[i + 1]);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static DIR *list(const struct tree *tree) {
	int fd = openat(tree->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

static bool is_piece(const char *name, const char *prefix) {
	return !strncmp(name, prefix, strlen(prefix)) && strstr(name, "img");
}

bool tree_has_pieces(const struct tree *tree, const char *prefix) {
	cleanup_dir DIR *dir = list(tree);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (is_piece(entry->d_name, prefix))
			return true;
	return false;
}

static int find_pieces(const struct tree *tree, const char *prefix, struct pieces *ret, struct fault *fault) {
	cleanup_dir DIR *dir = list(tree);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (!is_piece(entry->d_name, prefix))
			continue;
		if (ret->count == PIECES_MAX)
			return fault_set(fault, CODE_UNSUPPORTED, "more than %u files begin with %s", PIECES_MAX,
					 prefix);
		if (asprintf(&ret->words[ret->count + 1], "/proc/%d/fd/%d/%s", (int)getpid(), tree->dir,
			     entry->d_name) < 0)
			return fault_errno(fault, CODE_FAILED, ENOMEM, "%s", prefix);
		ret->count++;
	}
	qsort(ret->words + 1, ret->count, sizeof(ret->words[0]), by_name);
	return ret->count ? 0 : fault_set(fault, CODE_UNSUPPORTED, "no file starts with %s", prefix);
}

// The number of a piece, which is its suffix: split's .000 or .aa; -1: it has none.
static int piece_number(const char *suffix) {
	size_t n = strlen(suffix);
	bool letters = strspn(suffix, "abcdefghijklmnopqrstuvwxyz") == n;
	int number = 0;

	if (n < 2 || n > 3 || (!letters && strspn(suffix, "0123456789") != n))
		return -1;
	for (; *suffix; suffix++)
		number = letters ? number * 26 + (*suffix - 'a') : number * 10 + (*suffix - '0');
	return number;
}

// One file, or all pieces of one: neither one that is missing, nor a file of another run.
static int check_names(const struct pieces *pieces, struct fault *fault) {
	static const char *const whole[] = {"gz", "xz", "lz", "lzo", "img"};
	const char *first = strrchr(pieces->words[1], '/') + 1, *dot = strrchr(first, '.');

	for (size_t i = 0; pieces->count == 1 && i < ELEMENTS(whole); i++)
		if (!strcmp(dot + 1, whole[i]))
			return 0;
	for (size_t i = 0; i < pieces->count; i++) {
		const char *name = strrchr(pieces->words[i + 1], '/') + 1, *end = strrchr(name, '.');
		int number = piece_number(end + 1);
		if (pieces->count == 1 && number <= 0)
			return 0;
		if (end - name != dot - first || strncmp(name, first, (size_t)(end - name)) || number != (int)i)
			return fault_set(fault, CODE_UNSUPPORTED,
					 "%s is not piece %zu of %.*s: a piece is missing, or one is of another backup",
					 name, i + 1, (int)(dot - first), first);
	}
	return 0;
}

// A program that still saves this backup would change what is read.
static int check_pieces(const struct pieces *pieces, struct fault *fault) {
	int r = check_names(pieces, fault);
	struct stat st;

	for (size_t i = 0; r == 0 && i < pieces->count; i++) {
		cleanup_close int fd = open(pieces->words[i + 1], O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		const char *name = strrchr(pieces->words[i + 1], '/') + 1;
		r = fd < 0 ? fault_errno(fault, CODE_FAILED, errno, "open") : in_use_check("", fd, false, fault);
		if (r == 0 && fstat(fd, &st) == 0 && st.st_size == 0)
			r = fault_set(fault, CODE_UNSUPPORTED, "it is empty: the backup is not complete");
		if (r < 0)
			return fault_prefix(fault, r, "%s: ", name);
	}
	return r;
}

// First bytes of a file.
static int peek(const char *path, uint8_t *ret, size_t size, struct fault *fault) {
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || pread(fd, ret, size, 0) != (ssize_t)size)
		return fault_errno(fault, CODE_FAILED, fd < 0 ? errno : EIO, "%s", path);
	return 0;
}

// cat | decompress; its output is `pipe`.
struct flow {
	struct child cat, decompress;
	int pipe;
};

static void flow_stop(struct flow *flow) {
	child_stop(&flow->cat);
	child_stop(&flow->decompress);
	if (flow->pipe >= 0)
		close(flow->pipe);
}

static int flow_start(const struct pieces *pieces, struct flow *flow, struct fault *fault) {
	cleanup_close int joined = -1;
	uint8_t head[6];
	int ends[2], r = peek(pieces->words[1], head, sizeof(head), fault);

	if (r < 0)
		return r;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "pipe");
	joined = ends[0];
	r = child_start((const char *const *)pieces->words, -1, ends[1], &flow->cat, fault);
	close(ends[1]);
	if (r == 0)
		r = landing_decompress(head, joined, &flow->decompress, &flow->pipe, fault);
	if (r == 1)
		flow->pipe = steal_fd(&joined);
	return r < 0 ? r : 0;
}

static int flow_end(struct flow *flow, struct fault *fault) {
	int64_t deadline = clock_now() + TIMEOUT;
	int r = child_wait(&flow->cat, deadline, fault);

	return r == 0 && flow->decompress.pid ? child_wait(&flow->decompress, deadline, fault) : r;
}

static int land_pieces(struct tree *tree, const struct pieces *pieces, int *ret_fd, bool *ret_is_map,
		       struct fault *fault) {
	cleanup_with(flow_stop) struct flow flow = {.pipe = -1};
	cleanup_close int fd = -1;
	int r = flow_start(pieces, &flow, fault);

	if (r == 0)
		r = landing_make(flow.pipe, tree->room, &fd, ret_is_map, fault);
	if (r == 0)
		r = flow_end(&flow, fault);
	if (r == 0)
		*ret_fd = steal_fd(&fd);
	return r;
}

static const struct dump_partition *find(const struct tree *tree, unsigned number, struct fault *fault) {
	const struct dump_partition *partition = dump_find(&tree->table, number);

	if (!partition)
		fault_set(fault, CODE_UNSUPPORTED,
			  "there is an image of partition %u, but the table has no such partition", number);
	return partition;
}

// A filesystem may be smaller than its partition; a copy of all of its bytes that is smaller was cut off.
static int place(struct tree *tree, const struct dump_partition *partition, int fd, bool is_map, struct fault *fault) {
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "a temporary file");
	if ((uint64_t)st.st_size > partition->bytes || (!is_map && (uint64_t)st.st_size < partition->bytes))
		return fault_set(
			fault, CODE_UNSUPPORTED, "the image of partition %u has %llu bytes, but the partition has %llu",
			partition->number, (unsigned long long)st.st_size, (unsigned long long)partition->bytes);
	return scratch_copy(tree->disk, partition->start, fd, 0, (uint64_t)st.st_size, fault);
}

// The copy of an NTFS's boot sector lies behind the last sector that the filesystem counts, so partclone does not save
// it.
static int copy_boot_sector(struct tree *tree, const struct dump_partition *partition, struct fault *fault) {
	uint8_t boot[512], copy[512];
	uint64_t at;

	if (partition->bytes < sizeof(boot) ||
	    pread(tree->disk, boot, sizeof(boot), (off_t)partition->start) != sizeof(boot))
		return partition->bytes < sizeof(boot) ? 0 : fault_errno(fault, CODE_FAILED, errno, "a temporary file");
	if (memcmp(boot + 3, "NTFS    ", 8) || __builtin_mul_overflow(get_le64(boot + 40), get_le16(boot + 11), &at) ||
	    at > partition->bytes - sizeof(copy))
		return 0;
	at += partition->start;
	if (pread(tree->disk, copy, sizeof(copy), (off_t)at) != sizeof(copy) ||
	    (is_zero(copy, sizeof(copy)) && pwrite(tree->disk, boot, sizeof(boot), (off_t)at) != sizeof(boot)))
		return fault_errno(fault, CODE_FAILED, errno, "a temporary file");
	return 0;
}

int tree_write_partition(struct tree *tree, const char *prefix, unsigned number, struct fault *fault) {
	const struct dump_partition *partition = find(tree, number, fault);
	cleanup_with(pieces_free) struct pieces pieces = {.words = {(char *)(uintptr_t)"cat"}};
	cleanup_close int fd = -1;
	bool is_map = false;
	int r = partition ? find_pieces(tree, prefix, &pieces, fault) : -EOPNOTSUPP;

	if (r == 0)
		r = check_pieces(&pieces, fault);
	if (r == 0)
		r = land_pieces(tree, &pieces, &fd, &is_map, fault);
	if (r == 0)
		r = place(tree, partition, fd, is_map, fault);
	return r == 0 ? copy_boot_sector(tree, partition, fault) : r;
}

static void parse_uuid(const char *text, uint8_t ret[16]) {
	unsigned count = 0;

	for (; *text && count < 32; text++) {
		int digit = *text >= '0' && *text <= '9'		     ? *text - '0'
			    : (*text | 0x20) >= 'a' && (*text | 0x20) <= 'f' ? (*text | 0x20) - 'a' + 10
									     : -1;
		if (digit < 0)
			continue;
		ret[count / 2] = (uint8_t)(ret[count / 2] << 4 | digit);
		count++;
	}
}

// Linux, include/linux/swap.h: version, last page, bad pages, UUID and label after 1024 bytes; the signature is at the
// end of the page.
int tree_write_swap(struct tree *tree, unsigned number, const char *uuid, const char *label, struct fault *fault) {
	const struct dump_partition *partition = find(tree, number, fault);
	uint8_t page[4096] = {0};

	if (!partition)
		return -EOPNOTSUPP;
	if (strlen(label) > SWAP_LABEL)
		return fault_set(fault, CODE_UNSUPPORTED, "the label of the swap, partition %u, has more than %u bytes",
				 number, SWAP_LABEL);
	put_le32(page + 1024, 1);
	put_le32(page + 1028, (uint32_t)(partition->bytes / sizeof(page) - 1));
	parse_uuid(uuid, page + 1036);
	memcpy(page + 1052, label, strlen(label)); // without a zero if it is full
	memcpy(page + sizeof(page) - 10, "SWAPSPACE2", 10);
	if (pwrite(tree->disk, page, sizeof(page), (off_t)partition->start) != sizeof(page))
		return fault_errno(fault, CODE_FAILED, errno, "a temporary file");
	return 0;
}

int tree_write_absent(struct tree *tree, const struct dump_partition *partition, struct fault *fault) {
	if (partition->is_swap)
		return tree_write_swap(tree, partition->number, "", "", fault);
	return partition->is_extended
		       ? 0
		       : fault_set(fault, CODE_UNSUPPORTED,
				   "there is no image of partition %u: the folder is not complete, or only some of the "
				   "partitions were saved",
				   partition->number);
}
