// SPDX-License-Identifier: Apache-2.0
// tool_jail READABLE WRITABLE PROGRAM...: runs it as programs are run that read foreign disks (base/jail.h).
#include <fcntl.h>
#include <unistd.h>

#include "base/child.h"
#include "base/cleanup.h"
#include "base/clock.h"

int main(int count, char **words) {
	cleanup_close int from = open(count > 3 ? words[1] : "", O_RDONLY | O_CLOEXEC);
	cleanup_close int to = open(count > 3 ? words[2] : "", O_RDWR | O_CLOEXEC);
	const struct jail jail = {.memory = UINT64_C(1) << 30,
				  .output = 1 << 20,
				  .seconds = 2,
				  .file_count = 2,
				  .files = {{from, false}, {to, true}}};
	struct fault fault;

	if (from < 0 || to < 0)
		return CODE_USAGE;
	if (child_run_jailed((const char *const *)words + 3, -1, STDOUT_FILENO, &jail, clock_now() + 60 * SECOND,
			     &fault) < 0)
		return fault_print(&fault, "jail");
	return CODE_DONE;
}
