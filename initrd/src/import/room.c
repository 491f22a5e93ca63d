// SPDX-License-Identifier: Apache-2.0
#include "import/room.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/scratch.h"

int room_make(const struct import_room *room, uint64_t bytes, int *ret_fd, struct fault *fault) {
	cleanup_close int made = -1;

	if (bytes > room->limit)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "its disk has %" PRIu64 " bytes, more than the limit of "
				 "%" PRIu64 ": if that is right, allow more with limit=",
				 bytes, room->limit);
	made = scratch_open(room->folder, fault);
	if (made < 0)
		return made;
	if (ftruncate(made, (off_t)bytes) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "a temporary file of %" PRIu64 " bytes", bytes);
	*ret_fd = steal_fd(&made);
	return 0;
}
