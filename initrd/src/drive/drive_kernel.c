// SPDX-License-Identifier: Apache-2.0
// The only file that sends commands to drives.
#include <errno.h>
#include <linux/major.h>
#include <linux/mmc/ioctl.h>
#include <linux/nvme_ioctl.h>
#include <linux/sed-opal.h>
#include <scsi/sg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "disk/device.h"
#include "drive/drive.h"

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

static int kernel_scsi(struct drive *drive, const struct scsi_command *command, void *data, int size,
		       uint8_t sense[SCSI_SENSE], uint32_t seconds) {
	struct scsi_command copy = *command; // sg_io_hdr has no const
	struct sg_io_hdr to = {.interface_id = 'S',
			       .cmd_len = (unsigned char)copy.size,
			       .cmdp = copy.cdb,
			       .dxfer_direction = size > 0   ? SG_DXFER_FROM_DEV
						  : size < 0 ? SG_DXFER_TO_DEV
							     : SG_DXFER_NONE,
			       .dxferp = data,
			       .dxfer_len = (unsigned)(size < 0 ? -size : size),
			       .sbp = sense,
			       .mx_sb_len = SCSI_SENSE,
			       .timeout = seconds * 1000u};

	if (ioctl(drive->device->fd, SG_IO, &to) < 0)
		return -errno;
	if (to.status)
		return to.status;
	// The host or the driver gave up; 0x08 of the driver means that there is sense data.
	return to.host_status || (to.driver_status & 0x07) ? -EIO : 0;
}

// Flags of linux/mmc/core.h, which user space does not have: responses R1 and R1b, and a command with data.
enum { MMC_R1 = 0x95, MMC_R1B = 0x49d, MMC_DATA = 0x20 };

static int kernel_mmc(struct drive *drive, struct mmc_command *commands, unsigned count, void *page, uint32_t seconds) {
	cleanup_free struct mmc_ioc_multi_cmd *to = calloc(1, sizeof(*to) + count * sizeof(to->cmds[0]));

	if (!to)
		return -ENOMEM;
	to->num_of_cmds = count;
	for (unsigned i = 0; i < count; i++) {
		struct mmc_command *command = &commands[i];
		to->cmds[i] = (struct mmc_ioc_cmd){
			.opcode = command->opcode,
			.arg = command->argument,
			.flags = command->waits ? MMC_R1B : (command->reads ? MMC_R1 | MMC_DATA : MMC_R1),
			.blksz = command->reads ? MMC_PAGE : 0,
			.blocks = command->reads,
			.cmd_timeout_ms = seconds * 1000u,
			.data_ptr = command->reads ? (uint64_t)(uintptr_t)page : 0};
	}
	if (ioctl(drive->device->fd, MMC_IOC_MULTI_CMD, to) < 0)
		return -errno;
	for (unsigned i = 0; i < count; i++)
		commands[i].response = to->cmds[i].response[0];
	return 0;
}

static int kernel_opal(struct drive *drive, const char *psid) {
	struct opal_status status = {0};
	struct opal_key key = {0};
	int r;

	if (!psid)
		return ioctl(drive->device->fd, IOC_OPAL_GET_STATUS, &status) < 0 ? -errno : (int)status.flags;
	key.key_len = (uint8_t)strlen(psid);
	memcpy(key.key, psid, key.key_len);
	r = ioctl(drive->device->fd, IOC_OPAL_PSID_REVERT_TPR, &key);
	r = r < 0 ? -errno : r;
	explicit_bzero(&key, sizeof(key));
	return r;
}

static int64_t kernel_now(struct drive *drive) {
	(void)drive;
	return clock_now();
}

static void kernel_wait(struct drive *drive, int64_t until) {
	(void)drive;
	clock_wait_until(until);
}

const struct drive_ops drive_kernel = {kernel_nsid, kernel_nvme, kernel_scsi, kernel_mmc,
				       kernel_opal, kernel_now,	 kernel_wait};
