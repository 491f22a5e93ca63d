// SPDX-License-Identifier: Apache-2.0
// Preloaded, it gives any program the doubles of drives: ioctl(2) on whatever file, in place of the kernel. So
// programs that are not ours (hdparm, nvme, sg_sanitize, mmc) judge the doubles, and are compared with sledc.
//
// DOUBLE: folder with the files `state`, which stays from one program to the next, `disk`, and `sent`, a line for each
// command. DOUBLE_KIND: nvme, scsi, ata or mmc. DOUBLE_SET: faults, words such as "frozen".
#include <fcntl.h>
#include <linux/major.h>
#include <linux/mmc/ioctl.h>
#include <linux/nvme_ioctl.h>
#include <scsi/sg.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory_ata.h"
#include "memory_drive.h"
#include "memory_mmc.h"
#include "memory_scsi.h"

struct state {
	bool made;
	struct memory_drive nvme;
	struct memory_scsi scsi;
	struct memory_ata ata;
	struct memory_mmc mmc;
};

static struct state *state;
static struct memory_disk disk;
static struct memory_unit unit;

static void *map(const char *name, size_t *size) {
	char path[4096];
	struct stat st;
	void *mapped;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", getenv("DOUBLE"), name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || (*size && ftruncate(fd, (off_t)*size) < 0) || fstat(fd, &st) < 0)
		abort();
	*size = (size_t)st.st_size;
	mapped = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (mapped == MAP_FAILED)
		abort();
	return mapped;
}

static bool is_set(const char *word) {
	const char *set = getenv("DOUBLE_SET");
	return set && strstr(set, word);
}

static void make(void) {
	*state = (struct state){
		.made = true,
		.nvme = {.oacs = 2, .fna = 4, .sanicap = 7, .estimate = 5, .serial = "S1", .step = 20000},
		.scsi = {.vendor = "SEAGATE", .has = 14, .seconds = 60, .step = 20000},
		.mmc = {.revision = 8, .features = 0x51},
		.ata = {.word59 = 0xf000,
			.step = 20000,
			.security = {.supported = true, .has_enhanced = true, .word89 = 20, .word90 = 2}}};
}

static void attach(void) {
	size_t size = sizeof(*state), bytes = 0;

	if (state)
		return;
	state = map("state", &size);
	disk.data = map("disk", &bytes);
	disk.bytes = bytes;
	if (!state->made)
		make();
	state->nvme.disks[0] = state->scsi.disk = state->ata.disk = state->mmc.disk = &disk;
	state->ata.security.frozen = is_set("frozen");
	state->ata.security.loses_power = is_set("loses_power");
	state->ata.hpa = is_set("hpa") ? 2048 : 0;
	state->ata.dco = is_set("dco") ? 4096 : 0;
	state->ata.amac = is_set("amac") ? 8192 : 0;
	state->ata.refuses_max = is_set("refuses_max");
	state->nvme.lies = state->scsi.lies = state->ata.lies = state->mmc.lies = is_set("lies");
	if (is_set("power_cycle"))
		security_power_cycle(&state->ata.security, &disk);
	unit = (struct memory_unit){&state->nvme, 1};
}

static bool is_kind(const char *kind) {
	const char *is = getenv("DOUBLE_KIND");
	return is && !strcmp(is, kind);
}

// One line, at once: several programs append to it.
static void tell(const char *what, const uint8_t *command, size_t size, const uint8_t *data, size_t data_size) {
	char path[4096], line[4096];
	size_t used = (size_t)snprintf(line, sizeof(line), "%s ", what);
	int fd;

	for (size_t i = 0; i < size; i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%02x", command[i]);
	for (size_t i = 0; i < data_size; i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used, i ? "%02x" : " %02x", data[i]);
	line[used++] = '\n';
	snprintf(path, sizeof(path), "%s/sent", getenv("DOUBLE"));
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, line, used) != (ssize_t)used)
		abort();
	close(fd);
}

// A drive works on between two commands.
static void work_on(struct drive *drive, void (*wait)(struct drive *, int64_t), int64_t now) {
	wait(drive, now + SECOND);
}

static int admin(struct nvme_admin_cmd *from) {
	uint8_t command[NVME_COMMAND] = {from->opcode};
	struct drive drive = {.context = &unit};
	uint32_t words[] = {from->cdw10, from->cdw11, from->cdw12, from->cdw13, from->cdw14, from->cdw15};
	int r;

	put_le32(command + 4, from->nsid);
	for (unsigned i = 0; i < 6; i++)
		put_le32(command + 40 + 4 * i, words[i]);
	tell("nvme", command, sizeof(command), NULL, 0);
	work_on(&drive, double_wait, state->nvme.now);
	r = double_nvme(&drive, command, (void *)(uintptr_t)from->addr, from->data_len, 0); // NOLINT: an address
	if (r >= 0)
		return r;
	errno = -r;
	return -1;
}

static int pass(struct sg_io_hdr *io) {
	struct scsi_command command = {.size = io->cmd_len};
	uint8_t sense[SCSI_SENSE] = {0};
	bool out = io->dxfer_direction == SG_DXFER_TO_DEV, none = io->dxfer_direction == SG_DXFER_NONE;
	bool is_ata = is_kind("ata");
	struct drive drive = {.context = is_ata ? (void *)&state->ata : &state->scsi};
	int size = none ? 0 : out ? -(int)io->dxfer_len : (int)io->dxfer_len, r;

	if (io->cmd_len > SCSI_CDB) {
		errno = EINVAL;
		return -1;
	}
	memcpy(command.cdb, io->cmdp, io->cmd_len);
	tell("scsi", command.cdb, command.size, out ? io->dxferp : NULL, out ? io->dxfer_len : 0);
	work_on(&drive, is_ata ? ata_double_wait : scsi_double_wait, is_ata ? state->ata.now : state->scsi.now);
	r = is_ata ? ata_double_scsi(&drive, &command, io->dxferp, size, sense, 0)
		   : scsi_double_scsi(&drive, &command, io->dxferp, size, sense, 0);
	if (r < 0) {
		errno = -r;
		return -1;
	}
	io->status = (unsigned char)r;
	io->masked_status = (unsigned char)(r >> 1);
	io->host_status = 0;
	io->driver_status = r == 2 ? 8 : 0;
	io->resid = 0;
	io->sb_len_wr = 0;
	if (r == 2 && io->sbp) {
		io->sb_len_wr = io->mx_sb_len < 32 ? io->mx_sb_len : 32;
		memcpy(io->sbp, sense, io->sb_len_wr);
	}
	return 0;
}

// The flags decide how the kernel waits and transfers, so they count as sent.
static int mmc(struct mmc_ioc_cmd *commands, uint64_t count) {
	struct drive drive = {.context = &state->mmc};

	for (uint64_t i = 0; i < count; i++) {
		struct mmc_ioc_cmd *from = &commands[i];
		struct mmc_command command = {.opcode = from->opcode,
					      .argument = from->arg,
					      .reads = (from->flags & 0x20) && !from->write_flag && from->blocks == 1 &&
						       from->blksz == MMC_PAGE,
					      .waits = from->flags & 8};
		uint8_t sent[12];
		int r;

		put_le32(sent, from->opcode);
		put_le32(sent + 4, from->arg);
		put_le32(sent + 8, from->flags);
		tell("mmc", sent, sizeof(sent), NULL, 0);
		r = mmc_double(&drive, &command, 1, (void *)(uintptr_t)from->data_ptr, 0); // NOLINT: an address
		from->response[0] = command.response;
		if (r < 0) {
			errno = -r;
			return -1;
		}
	}
	return 0;
}

int ioctl(int fd, unsigned long request, ...) { // NOLINT: as of libc
	va_list arguments;
	void *argument;

	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (getenv("DOUBLE") && (is_kind("nvme") || is_kind("scsi") || is_kind("ata") || is_kind("mmc"))) {
		attach();
		if (request == NVME_IOCTL_ID && is_kind("nvme"))
			return 1;
		if (request == NVME_IOCTL_ADMIN_CMD && is_kind("nvme"))
			return admin(argument);
		if (request == SG_IO && (is_kind("scsi") || is_kind("ata")))
			return pass(argument);
		if (request == MMC_IOC_CMD && is_kind("mmc"))
			return mmc(argument, 1);
		if (request == MMC_IOC_MULTI_CMD && is_kind("mmc"))
			return mmc(((struct mmc_ioc_multi_cmd *)argument)->cmds,
				   ((struct mmc_ioc_multi_cmd *)argument)->num_of_cmds);
	}
	return (int)syscall(SYS_ioctl, fd, request, argument);
}
