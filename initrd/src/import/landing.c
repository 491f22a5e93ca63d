// SPDX-License-Identifier: Apache-2.0
#include "import/landing.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/scratch.h"
#include "import/recognise.h"

#define PIECE ((size_t)1 << 20)
#define IDLE (300 * SECOND)    // longest time without a byte in or out
#define TIMEOUT (300 * SECOND) // until a program ends after its last byte

// The destination of the bytes.
struct landing {
	int fd;
	const struct import_room *room;
	uint64_t at;
	struct child restore; // partclone.restore, if it gets the bytes
	int pipe;	      // to partclone.restore
	bool is_map;	      // it got them
};

static int wait_for(int fd, short events, struct fault *fault) {
	struct pollfd poll_fd = {.fd = fd, .events = events};
	int n;

	do
		n = poll(&poll_fd, 1, clock_poll_timeout(clock_now() + IDLE));
	while (n < 0 && errno == EINTR);
	return n == 1 ? 0 : fault_set(fault, CODE_FAILED, "no data for %d seconds", (int)(IDLE / SECOND));
}

// Fills the buffer; at the end of the input less.
static ssize_t read_piece(int from, uint8_t *piece, struct fault *fault) {
	size_t size = 0;

	while (size < PIECE) {
		ssize_t n;
		int r = wait_for(from, POLLIN, fault);
		if (r < 0)
			return r;
		n = read(from, piece + size, PIECE - size);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return fault_errno(fault, CODE_FAILED, errno, "read");
		if (n == 0)
			break;
		size += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)size;
}

static int write_pipe(struct landing *landing, const uint8_t *data, size_t size, struct fault *fault) {
	while (size > 0) {
		ssize_t n;
		int r = wait_for(landing->pipe, POLLOUT, fault);
		if (r < 0)
			return r;
		n = write(landing->pipe, data, size);
		if (n < 0 && errno == EPIPE)
			return 0; // it has read enough, or its exit status tells why not
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return fault_errno(fault, CODE_FAILED, errno, "%s", landing->restore.name);
		data += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int start_restore(struct landing *landing, struct fault *fault) {
	// -f 0: see domain.c.
	const char *const words[] = {
		"partclone.restore", "-q", "-f", "0", "-L", "/dev/null", "-C", "-W", "-s", "-", "-O",
		JAIL_FILE_0,	     NULL};
	struct jail jail = import_jail(landing->room->limit);
	int ends[2], r;

	jail.files[jail.file_count++] = (struct jail_file){landing->fd, true};
	if (pipe2(ends, O_CLOEXEC) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "pipe");
	r = child_start_jailed(words, ends[0], -1, &jail, &landing->restore, fault);
	close(ends[0]);
	landing->pipe = ends[1];
	landing->is_map = true;
	(void)fcntl(landing->pipe, F_SETFL, O_NONBLOCK);
	return r;
}

static int put_piece(struct landing *landing, const uint8_t *piece, size_t size, struct fault *fault) {
	const char *ignored;
	int r = 0;

	if (size > landing->room->limit - landing->at)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "it becomes more than %llu bytes: if that is right, allow more with limit=",
				 (unsigned long long)landing->room->limit);
	if (landing->at == 0 && import_recognise(piece, size, NULL, 0, &ignored) == IMPORT_PARTCLONE)
		r = start_restore(landing, fault);
	if (r == 0)
		r = landing->pipe >= 0 ? write_pipe(landing, piece, size, fault)
				       : scratch_write(landing->fd, piece, size, landing->at, fault);
	landing->at += size;
	return r;
}

static int end_landing(struct landing *landing, struct fault *fault) {
	if (landing->pipe < 0)
		return ftruncate(landing->fd, (off_t)landing->at) < 0
			       ? fault_errno(fault, CODE_FAILED, errno, "a temporary file")
			       : 0;
	close(landing->pipe);
	landing->pipe = -1;
	return child_wait(&landing->restore, clock_now() + TIMEOUT, fault);
}

static int land(struct landing *landing, int from, struct fault *fault) {
	cleanup_free uint8_t *piece = malloc(PIECE);
	ssize_t n = 1;
	int r = piece ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "a temporary file");

	while (r == 0 && n > 0) {
		n = read_piece(from, piece, fault);
		r = n < 0 ? (int)n : put_piece(landing, piece, (size_t)n, fault);
	}
	return r == 0 ? end_landing(landing, fault) : r;
}

int landing_make(int from, const struct import_room *room, int *ret_fd, bool *ret_is_map, struct fault *fault) {
	cleanup_close int fd = scratch_open(room->folder, fault);
	struct landing landing = {.fd = fd, .room = room, .pipe = -1};
	int r = fd < 0 ? fd : land(&landing, from, fault);

	if (landing.pipe >= 0)
		close(landing.pipe);
	child_stop(&landing.restore);
	*ret_is_map = landing.is_map;
	if (r == 0)
		*ret_fd = steal_fd(&fd);
	return r;
}

static const char *const *program_for(const uint8_t *head, const char **ret_why) {
	static const char *const gzip[] = {"gzip", "-dc", NULL}, *const xz[] = {"xz", "-dcT1", "--memlimit=1GiB", NULL},
				 *const zstd[] = {"zstd", "-dcq", ZSTD_LONG, NULL};
	static const char *const bzip2[] = {"bzip2", "-dc", NULL}, *const lz4[] = {"lz4", "-dcq", NULL};

	switch (import_recognise(head, 6, NULL, 0, ret_why)) {
	case IMPORT_GZIP: return gzip;
	case IMPORT_XZ: return xz;
	case IMPORT_ZSTD: return zstd;
	case IMPORT_BZIP2: return bzip2;
	case IMPORT_LZ4: return lz4;
	default: return NULL;
	}
}

int landing_decompress(const uint8_t *head, int in, struct child *ret, int *ret_pipe, struct fault *fault) {
	const char *why = NULL;
	const char *const *words = program_for(head, &why);
	const struct jail jail = import_jail(1 << 16); // its messages: the data goes to a pipe
	int ends[2], r;

	if (why)
		return fault_set(fault, CODE_UNSUPPORTED, "%s", why);
	if (!words)
		return 1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "pipe");
	r = child_start_jailed(words, in, ends[1], &jail, ret, fault);
	close(ends[1]);
	if (r < 0)
		close(ends[0]);
	else
		*ret_pipe = ends[0];
	return r;
}
