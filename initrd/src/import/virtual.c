// SPDX-License-Identifier: Apache-2.0
#include "import/virtual.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/child.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"

#define MESSAGES ((uint64_t)64 << 10) // bytes that it may print
#define TIMEOUT (6 * 3600 * SECOND)   // enough for many TiB from a slow disk

// QEMU takes the size of some VHD from their cylinders, heads and sectors, which may leave out the disk's end.
#define VHD "driver=vpc,force_size_calc=current_size,file.driver=file,file.filename="

static const char *format_of(enum import_kind kind) {
	switch (kind) {
	case IMPORT_QCOW2: return "qcow2";
	case IMPORT_VMDK: return "vmdk";
	case IMPORT_VHDX: return "vhdx";
	case IMPORT_VDI: return "vdi";
	default: return "vpc";
	}
}

// The size of the disk in the file.
static int measure(int fd, const char *format, uint64_t *ret, struct fault *fault) {
	const bool is_vhd = !strcmp(format, "vpc");
	const char *const words[] = {"qemu-img",
				     "measure",
				     "-O",
				     "raw",
				     is_vhd ? "--image-opts" : "-f",
				     is_vhd ? VHD JAIL_FILE_0 : format,
				     is_vhd ? NULL : JAIL_FILE_0,
				     NULL};
	cleanup_close int out = memfd_create("measure", MFD_CLOEXEC);
	cleanup_free char *text = NULL;
	struct jail jail = import_jail(MESSAGES);
	const char *line;
	int r;

	jail.files[jail.file_count++] = (struct jail_file){fd, false};
	r = child_run_jailed(words, -1, out, &jail, clock_now() + 60 * SECOND, fault);
	if (r < 0 && !strcmp(format, "vhdx") && strstr(fault->text, strerror(EOPNOTSUPP)))
		return fault_set(fault, CODE_UNSUPPORTED,
				 "it is a VHDX with sectors of 4096 bytes, which qemu-img does not read: attach it on "
				 "Windows, copy that disk to a raw file, and pack it with sector=4096");
	if (r < 0)
		return r;
	if (lseek(out, 0, SEEK_SET) < 0 || file_read_fd(out, MESSAGES, &text, NULL) < 0 ||
	    !(line = strstr(text, "fully allocated size: ")) ||
	    sscanf(line, "fully allocated size: %" SCNu64, ret) != 1)
		return fault_set(fault, CODE_FAILED, "qemu-img measure: its output contains no size");
	return 0;
}

int import_virtual(int fd, enum import_kind kind, const struct import_room *room, int *ret_fd, struct fault *fault) {
	cleanup_close int made = -1;
	const char *format = format_of(kind);
	const bool is_vhd = !strcmp(format, "vpc");
	const char *const words[] = {"qemu-img",
				     "convert",
				     "-O",
				     "raw",
				     "-n",
				     "--target-is-zero",
				     "-t",
				     "writeback",
				     is_vhd ? "--image-opts" : "-f",
				     is_vhd ? VHD JAIL_FILE_0 : format,
				     is_vhd ? JAIL_FILE_1 : JAIL_FILE_0,
				     is_vhd ? NULL : JAIL_FILE_1,
				     NULL};
	struct jail jail;
	uint64_t bytes = 0;
	int r = measure(fd, format, &bytes, fault);

	if (r == 0)
		r = room_make(room, bytes, &made, fault);
	if (r < 0)
		return r;
	jail = import_jail(bytes > MESSAGES ? bytes : MESSAGES);
	jail.files[jail.file_count++] = (struct jail_file){fd, false};
	jail.files[jail.file_count++] = (struct jail_file){made, true};
	r = child_run_jailed(words, -1, -1, &jail, clock_now() + TIMEOUT, fault);
	if (r == 0)
		*ret_fd = steal_fd(&made);
	return r;
}
