// SPDX-License-Identifier: Apache-2.0
#include "node/facts.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/cleanup.h"
#include "base/operand.h"
#include "disk/choose.h"
#include "disk/contents.h"
#include "disk/scan.h"
#include "disk/sysfs.h"
#include "drive/hidden.h"

#define LINES_MAX 256u	       // of a body: contract/report.md
#define BYTES_MAX (64u * 1024) // likewise
#define NICS_MAX 64u

void facts_boot_id(const char *root, char *ret, size_t size) {
	sysfs_text(ret, size, "%s/proc/sys/kernel/random/boot_id", root);
}

double facts_uptime(const char *root) {
	char text[64];
	sysfs_text(text, sizeof(text), "%s/proc/uptime", root);
	return strtod(text, NULL);
}

static void add_kernel(const char *root, struct text *text) {
	char release[128];
	sysfs_text(release, sizeof(release), "%s/proc/sys/kernel/osrelease", root);
	text_adds(text, "kernel");
	operand_write(text, "release", release);
	text_addf(text, " uptime=%.2f\n", facts_uptime(root));
}

static void add_cpu(const char *root, struct text *text) {
	char path[PATH_MAX], model[128] = "";
	cleanup_free char *line = NULL;
	cleanup_file FILE *file = NULL;
	struct utsname name = {0};
	unsigned threads = 0;
	size_t room = 0;

	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0) {
		const char *colon = strchr(line, ':');
		threads += !strncmp(line, "processor", strlen("processor"));
		if (colon && !*model && !strncmp(line, "model name", strlen("model name")))
			snprintf(model, sizeof(model), "%s", colon + 1);
	}
	sysfs_clean(model);
	uname(&name);
	text_adds(text, "cpu");
	operand_write(text, "model", model);
	text_addf(text, " threads=%u", threads);
	operand_write(text, "arch", name.machine);
	text_adds(text, "\n");
}

static void add_memory(const char *root, struct text *text) {
	char line[128];
	uint64_t kib = 0;
	sysfs_text(line, sizeof(line), "%s/proc/meminfo", root);
	(void)sscanf(line, "MemTotal: %" SCNu64, &kib);
	text_addf(text, "memory bytes=%" PRIu64 "\n", kib * 1024);
}

// The kernel lists all states, the current one in brackets. Its file is missing in a kernel without lockdown.
static void add_lockdown(const char *root, struct text *text) {
	char states[128], *state, *end;
	sysfs_text(states, sizeof(states), "%s/sys/kernel/security/lockdown", root);
	state = strchr(states, '[');
	end = state ? strchr(state, ']') : NULL;
	if (!end)
		return;
	*end = 0;
	operand_write(text, "lockdown", state + 1);
}

static void add_firmware(const char *root, struct text *text) {
	static const char *const keys[] = {"vendor", "product", "version", "serial", "uuid", "bios"};
	static const char *const files[] = {"sys_vendor",     "product_name", "product_version",
					    "product_serial", "product_uuid", "bios_version"};
	char path[PATH_MAX], value[128];

	snprintf(path, sizeof(path), "%s/sys/firmware/efi", root);
	text_addf(text, "firmware type=%s", access(path, F_OK) == 0 ? "uefi" : "bios");
	add_lockdown(root, text);
	text_adds(text, "\ndmi");
	for (size_t i = 0; i < ELEMENTS(keys); i++) {
		sysfs_text(value, sizeof(value), "%s/sys/class/dmi/id/%s", root, files[i]);
		operand_write(text, keys[i], value);
	}
	text_adds(text, "\n");
}

// The ports of a bond all show its MAC; each has kept its own beside it.
static void read_mac(char *mac, size_t size, const char *root, const char *name) {
	sysfs_text(mac, size, "%s/sys/class/net/%s/bonding_slave/perm_hwaddr", root, name);
	if (!*mac)
		sysfs_text(mac, size, "%s/sys/class/net/%s/address", root, name);
}

// Only interfaces with hardware. An interface that is down has no speed, and its carrier cannot be read.
static unsigned add_nics(const char *root, struct text *text) {
	char path[PATH_MAX], mac[32], driver[64], speed[32];
	cleanup_dir DIR *dir = NULL;
	struct dirent *entry;
	unsigned count = 0;

	snprintf(path, sizeof(path), "%s/sys/class/net", root);
	dir = opendir(path);
	while (dir && count < NICS_MAX && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/sys/class/net/%s/device", root, entry->d_name);
		if (entry->d_name[0] == '.' || access(path, F_OK) < 0)
			continue;
		read_mac(mac, sizeof(mac), root, entry->d_name);
		sysfs_link(driver, sizeof(driver), "%s/driver", path);
		sysfs_text(speed, sizeof(speed), "%s/sys/class/net/%s/speed", root, entry->d_name);
		text_adds(text, "nic");
		operand_write(text, "name", entry->d_name);
		operand_write(text, "mac", mac);
		operand_write(text, "driver", driver);
		text_addf(text, " link=%d", (int)sysfs_number(0, "%s/sys/class/net/%s/carrier", root, entry->d_name));
		operand_write(text, "speed", *speed == '-' ? "" : speed);
		text_adds(text, "\n");
		count++;
	}
	return count;
}

// They come last, as many as there is room for.
static void add_partitions(const struct disks *disks, unsigned lines, struct text *text) {
	for (size_t i = 0; i < disks->count; i++) {
		const char *line = disks->items[i].listed, *end;
		for (; line && (end = strchr(line, '\n')); line = end + 1) {
			size_t size = (size_t)(end + 1 - line);
			if (lines++ == LINES_MAX || text->size + size > BYTES_MAX)
				return;
			text_add(text, line, size);
		}
	}
}

int facts_collect(const char *root, struct text *text, struct fault *fault) {
	cleanup_with(disks_free) struct disks disks = {0};
	char boot[64];
	unsigned lines = 7;
	int r = scan_disks(root, &disks, fault);

	if (r == 0)
		r = contents_read(root, &disks, fault);
	if (r == 0)
		r = hidden_read(root, &drive_kernel, &disks, fault);
	if (r < 0)
		return r;
	facts_boot_id(root, boot, sizeof(boot));
	text_addf(text, "facts 1\nboot %s\n", boot);
	add_kernel(root, text);
	add_cpu(root, text);
	add_memory(root, text);
	add_firmware(root, text);
	lines += add_nics(root, text);
	for (size_t i = 0; i < disks.count && lines < LINES_MAX; i++) {
		if (disks.items[i].bytes == 0 && !choose_is_disk(&disks.items[i])) // a loop device without a file
			continue;
		disk_describe(&disks.items[i], text);
		text_adds(text, "\n");
		lines++;
	}
	add_partitions(&disks, lines, text);
	return text->failed ? fault_errno(fault, CODE_FAILED, ENOMEM, "facts") : 0;
}
