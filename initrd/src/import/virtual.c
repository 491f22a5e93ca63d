// SPDX-License-Identifier: Apache-2.0
#include "import/virtual.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/child.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/scratch.h"

#define TIMEOUT (6 * 3600 * SECOND) // enough for many TiB from a slow disk

static const char *format_of(enum import_kind kind) {
	switch (kind) {
	case IMPORT_QCOW2:
		return "qcow2";
	case IMPORT_VMDK:
		return "vmdk";
	case IMPORT_VHDX:
		return "vhdx";
	case IMPORT_VDI:
		return "vdi";
	default:
		return "vpc";
	}
}

// The size of the disk in the file.
static int measure(const char *format, const char *path, uint64_t *ret, struct fault *fault) {
	const char *const words[] = {"qemu-img", "measure", "-f", format, "-O", "raw", path, NULL};
	cleanup_close int out = memfd_create("measure", MFD_CLOEXEC);
	cleanup_free char *text = NULL;
	const char *line;
	int r = child_run(words, -1, out, clock_now() + 60 * SECOND, fault);

	if (r < 0)
		return r;
	if (lseek(out, 0, SEEK_SET) < 0 || file_read_fd(out, 4096, &text, NULL) < 0 ||
		!(line = strstr(text, "fully allocated size: ")) ||
	    sscanf(line, "fully allocated size: %" SCNu64, ret) != 1)
		return fault_set(fault, CODE_FAILED, "qemu-img measure: its output contains no size");
	return 0;
}

int import_virtual(int fd, enum import_kind kind, const char *folder, int *ret_fd, struct fault *fault) {
	cleanup_close int made = -1;
	char from[CHILD_PATH], to[CHILD_PATH];
	const char *format = format_of(kind);
	const char *const words[] = {"qemu-img", "convert", "-f", format, "-O", "raw", "-n", "--target-is-zero", "-t",
		"writeback", from, to, NULL};
	uint64_t bytes = 0;
	int r = measure(format, child_path(fd, from), &bytes, fault);

	if (r == 0)
		r = made = scratch_open(folder, fault);
	if (r >= 0)
		r = ftruncate(made, (off_t)bytes) < 0 ? fault_errno(fault, CODE_FAILED, errno,
			"a temporary file of %" PRIu64 " bytes", bytes) : 0;
	if (r < 0)
		return r;
	child_path(made, to);
	r = child_run(words, -1, -1, clock_now() + TIMEOUT, fault);
	if (r == 0)
		*ret_fd = steal_fd(&made);
	return r;
}
