// SPDX-License-Identifier: Apache-2.0
#include "import/ndz.h"

#include <unistd.h>

#include "base/child.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "import/ndz_unpack.h"

#define TIMEOUT (6 * 3600 * SECOND) // enough for many TiB from a slow disk

int import_ndz(int fd, enum import_kind kind, const struct import_room *room, int *ret_fd, struct fault *fault) {
	static const char *const words[] = {CHILD_SELF, "ndz", JAIL_FILE_0, JAIL_FILE_1, NULL};
	cleanup_close int made = -1;
	struct reader reader;
	uint32_t sector;
	uint64_t bytes;
	struct jail jail;
	int r = reader_open(fd, "the file", &reader, &sector, fault);

	(void)kind;
	if (r == 0)
		r = ndz_measure(&reader, &bytes, fault);
	if (r == 0)
		r = room_make(room, bytes, &made, fault);
	if (r < 0)
		return r;
	jail = import_jail(bytes);
	jail.files[jail.file_count++] = (struct jail_file){fd, false};
	jail.files[jail.file_count++] = (struct jail_file){made, true};
	r = child_run_jailed(words, -1, -1, &jail, clock_now() + TIMEOUT, fault);
	if (r == 0)
		*ret_fd = steal_fd(&made);
	return r;
}
