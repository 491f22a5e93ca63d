// SPDX-License-Identifier: Apache-2.0
#include "disk/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "disk/sysfs.h"

static struct disk *find_name(struct disks *disks, const char *name) {
	for (size_t i = 0; i < disks->count; i++)
		if (!strcmp(disks->items[i].name, name))
			return &disks->items[i];
	return NULL;
}

// In sysfs, partitions are in the directory of their disk.
struct disk *usage_disk(const char *root, struct disks *disks, const char *number) {
	cleanup_free char *path = NULL, *real = NULL;
	struct disk *disk;
	char *slash;

	if (asprintf(&path, "%s/sys/dev/block/%s", root, number) < 0 || !(real = realpath(path, NULL)))
		return NULL;
	slash = strrchr(real, '/');
	if ((disk = find_name(disks, slash + 1)))
		return disk;
	*slash = 0;
	slash = strrchr(real, '/');
	return slash ? find_name(disks, slash + 1) : NULL;
}

static struct disk *find_node(const char *root, struct disks *disks, const char *node) {
	char number[32];
	if (strncmp(node, "/dev/", 5))
		return NULL;
	sysfs_text(number, sizeof(number), "%s/sys/class/block/%s/dev", root, node + 5);
	return *number ? usage_disk(root, disks, number) : NULL;
}

static void mark(struct disk *disk, const char *how, const char *where) {
	if (disk && !disk->in_use[0])
		snprintf(disk->in_use, sizeof(disk->in_use), "%s %.200s", how, where);
}

// Some filesystems (btrfs) show another device number, so the source is checked too.
static int find_mounts(const char *root, struct disks *disks, struct fault *fault) {
	cleanup_free char *path = NULL, *line = NULL;
	cleanup_file FILE *file = NULL;
	size_t room = 0;

	if (asprintf(&path, "%s/proc/self/mountinfo", root) < 0 || !(file = fopen(path, "re")))
		return fault_errno(fault, CODE_FAILED, errno, "%s", path ? path : "mountinfo");
	while (getline(&line, &room, file) > 0) {
		char number[32], where[256], source[256];
		const char *dash = strstr(line, " - ");
		if (!dash || sscanf(line, "%*s %*s %31s %*s %255s", number, where) != 2 ||
		    sscanf(dash, " - %*s %255s", source) != 1)
			continue;
		mark(usage_disk(root, disks, number), "mounted at", where);
		mark(find_node(root, disks, source), "mounted at", where);
	}
	return ferror(file) ? fault_errno(fault, CODE_FAILED, EIO, "%s", path) : 0;
}

static int find_swaps(const char *root, struct disks *disks, struct fault *fault) {
	cleanup_free char *path = NULL, *line = NULL;
	cleanup_file FILE *file = NULL;
	size_t room = 0;

	if (asprintf(&path, "%s/proc/swaps", root) < 0)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "swaps");
	if (!(file = fopen(path, "re"))) // a kernel without swap
		return errno == ENOENT ? 0 : fault_errno(fault, CODE_FAILED, errno, "%s", path);
	while (getline(&line, &room, file) > 0) {
		line[strcspn(line, " \t\n")] = 0;
		mark(find_node(root, disks, line), "used for swap by", line);
	}
	return ferror(file) ? fault_errno(fault, CODE_FAILED, EIO, "%s", path) : 0;
}

// A folder that cannot be read may name a holder, so nobody may write to the disk.
static void mark_unknown(struct disk *disk, const char *directory, int error) {
	char why[200];

	snprintf(why, sizeof(why), "%.150s: %s", directory, strerror(error));
	mark(disk, "of unknown use:", why);
}

static void find_holder(const char *directory, struct disk *disk) {
	cleanup_dir DIR *dir = opendir(directory);
	struct dirent *entry;

	if (!dir) {
		mark_unknown(disk, directory, errno);
		return;
	}
	while (errno = 0, (entry = readdir(dir))) {
		char name[128], holder[200];
		if (entry->d_name[0] == '.')
			continue;
		sysfs_text(name, sizeof(name), "%s/%s/dm/name", directory, entry->d_name); // of LVM and LUKS
		snprintf(holder, sizeof(holder), "%.60s%s%s%s", entry->d_name, name[0] ? " (" : "", name,
			 name[0] ? ")" : "");
		mark(disk, "held by", holder);
	}
	if (errno)
		mark_unknown(disk, directory, errno);
}

static void find_holders(const char *root, struct disk *disk) {
	char path[PATH_MAX];
	cleanup_dir DIR *dir = NULL;
	struct dirent *entry;

	snprintf(path, sizeof(path), "%s/sys/block/%s/holders", root, disk->name);
	find_holder(path, disk);
	snprintf(path, sizeof(path), "%s/sys/block/%s", root, disk->name);
	if (!(dir = opendir(path))) {
		mark_unknown(disk, path, errno);
		return;
	}
	while (errno = 0, (entry = readdir(dir)))
		if (!strncmp(entry->d_name, disk->name, strlen(disk->name))) {
			snprintf(path, sizeof(path), "%s/sys/block/%s/%s/holders", root, disk->name, entry->d_name);
			find_holder(path, disk);
		}
	if (errno)
		mark_unknown(disk, path, errno);
}

// A disk of which the kernel does not say what it is may be one that is kept: an error is no answer. What a kernel or a
// driver does not have at all is one.
static void find_unreadable(const char *root, struct disk *disk) {
	static const char *const attributes[] = {"size", "ro", "removable", "hidden", "device/model"};
	char path[PATH_MAX], byte;

	for (size_t i = 0; i < ELEMENTS(attributes); i++) {
		cleanup_close int fd = -1;
		snprintf(path, sizeof(path), "%s/sys/block/%s/%s", root, disk->name, attributes[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if ((fd < 0 && errno != ENOENT && errno != ENOTDIR) || (fd >= 0 && read(fd, &byte, 1) < 0))
			mark_unknown(disk, path, errno);
	}
}

int usage_find(const char *root, struct disks *disks, struct fault *fault) {
	int r = find_mounts(root, disks, fault);
	if (r == 0)
		r = find_swaps(root, disks, fault);
	for (size_t i = 0; r == 0 && i < disks->count; i++) {
		find_holders(root, &disks->items[i]);
		find_unreadable(root, &disks->items[i]);
	}
	return r;
}
