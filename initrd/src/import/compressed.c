// SPDX-License-Identifier: Apache-2.0
#include "import/compressed.h"

#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "import/landing.h"

#define TIMEOUT (60 * SECOND) // until the program ends after its last byte

static int from_start(int fd, struct fault *fault) {
	return lseek(fd, 0, SEEK_SET) < 0 ? fault_errno(fault, CODE_FAILED, errno, "seek") : 0;
}

int import_decompress(int fd, enum import_kind kind, const struct import_room *room, int *ret_fd, struct fault *fault) {
	cleanup_with(child_stop) struct child child = {0};
	cleanup_close int pipe = -1, made = -1;
	uint8_t head[6];
	bool is_map;
	int r = pread(fd, head, sizeof(head), 0) == sizeof(head) ? from_start(fd, fault)
								 : fault_set(fault, CODE_FAILED, "read");

	(void)kind;
	if (r == 0)
		r = landing_decompress(head, fd, &child, &pipe, fault);
	if (r == 0)
		r = landing_make(pipe, room, &made, &is_map, fault);
	if (r == 0)
		r = child_wait(&child, clock_now() + TIMEOUT, fault);
	if (r == 0)
		*ret_fd = steal_fd(&made);
	return r;
}

int import_partclone(int fd, enum import_kind kind, const struct import_room *room, int *ret_fd, struct fault *fault) {
	bool is_map;
	int r = from_start(fd, fault);

	(void)kind;
	return r == 0 ? landing_make(fd, room, ret_fd, &is_map, fault) : r;
}
