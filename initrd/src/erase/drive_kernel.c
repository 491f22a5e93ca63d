// SPDX-License-Identifier: Apache-2.0
// The only file that sends commands to drives.
#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "disk/device.h"
#include "erase/drive.h"

static int64_t kernel_nsid(struct drive *drive) {
	int nsid = ioctl(drive->device->fd, NVME_IOCTL_ID);
	return nsid < 0 ? -errno : nsid;
}

static int kernel_nvme(struct drive *drive, const uint8_t command[NVME_COMMAND], void *data, uint32_t size,
		       uint32_t seconds) {
	struct nvme_admin_cmd to = {.opcode = command[0],
				    .nsid = get_le32(command + 4),
				    .addr = (uint64_t)(uintptr_t)data,
				    .data_len = size,
				    .cdw10 = get_le32(command + 40),
				    .cdw11 = get_le32(command + 44),
				    .cdw12 = get_le32(command + 48),
				    .cdw13 = get_le32(command + 52),
				    .cdw14 = get_le32(command + 56),
				    .cdw15 = get_le32(command + 60),
				    .timeout_ms = seconds * 1000u};
	int r = ioctl(drive->device->fd, NVME_IOCTL_ADMIN_CMD, &to);

	return r < 0 ? -errno : r;
}

static int64_t kernel_now(struct drive *drive) {
	(void)drive;
	return clock_now();
}

static void kernel_wait(struct drive *drive, int64_t until) {
	(void)drive;
	clock_wait_until(until);
}

const struct drive_ops drive_kernel = {kernel_nsid, kernel_nvme, kernel_now, kernel_wait};
