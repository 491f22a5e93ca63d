// SPDX-License-Identifier: Apache-2.0
#include "disk/disk.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/operand.h"

void disks_free(struct disks *disks) {
	for (size_t i = 0; i < disks->count; i++) {
		free(disks->items[i].parts);
		free(disks->items[i].listed);
	}
	free(disks->items);
	free(disks->keep);
	*disks = (struct disks){0};
}

int disk_open(const char *root, const struct disk *disk) {
	cleanup_close int fd = -1;
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", root, disk->node);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0 || (!*root && (!S_ISBLK(st.st_mode) || st.st_rdev != disk->number)))
		return -1;
	return steal_fd(&fd);
}

void disk_describe(const struct disk *disk, struct text *text) {
	text_adds(text, "disk");
	operand_write(text, "name", disk->name);
	operand_write(text, "serial", disk->serial);
	operand_write(text, "wwn", disk->wwn);
	operand_write(text, "path", disk->path);
	operand_write(text, "model", disk->model);
	text_addf(text, " bytes=%llu rotational=%d removable=%d readonly=%d sector=%u", (unsigned long long)disk->bytes,
		  disk->rotational, disk->removable, disk->readonly, disk->sector);
	operand_write(text, "vendor", disk->vendor);
	operand_write(text, "transport", disk->transport);
	if (disk->sets[0])
		operand_write(text, "set", disk->sets);
	if (disk->hidden[0])
		operand_write(text, "hidden", disk->hidden);
}
