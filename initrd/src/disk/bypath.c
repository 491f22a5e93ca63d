// SPDX-License-Identifier: Apache-2.0
#include "disk/bypath.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "disk/sysfs.h"

struct walk {
	const char *root;
	char at[PATH_MAX]; // current directory
	char path[256], path_short[256];
	bool bus; // a bus was found: without one the name identifies nothing
};

static const char *last(const char *path) { return strrchr(path, '/') ? strrchr(path, '/') + 1 : path; }

static bool up(struct walk *w) {
	char *slash = strrchr(w->at, '/');
	if (!slash || slash == w->at)
		return false;
	*slash = 0;
	return strlen(w->at) > strlen(w->root) + strlen("/sys/devices");
}

static void put(char *path, size_t size, const char *piece) {
	char old[256];
	snprintf(old, sizeof(old), "%s", path);
	snprintf(path, size, "%s%s%s", piece, *old ? "-" : "", old);
}

static void prepend(struct walk *w, const char *piece, const char *piece_short) {
	if (*w->path_short || strcmp(piece, piece_short)) {
		if (!*w->path_short)
			snprintf(w->path_short, sizeof(w->path_short), "%s", w->path);
		put(w->path_short, sizeof(w->path_short), piece_short);
	}
	put(w->path, sizeof(w->path), piece);
}

// Goes up past all parents of the same subsystem: bridges of pci, hubs of usb.
static void skip(struct walk *w, const char *subsystem) {
	char next[64];
	struct walk parent = *w;

	while (up(&parent)) {
		sysfs_link(next, sizeof(next), "%s/subsystem", parent.at);
		if (*next && strcmp(next, subsystem))
			break;
		if (*next)
			memcpy(w->at, parent.at, sizeof(w->at));
	}
}

// Host numbers depend on the order of probing: udev counts from the lowest host of the same parent.
static unsigned lowest_host(const char *directory, unsigned host) {
	cleanup_dir DIR *dir = opendir(directory);
	struct dirent *entry;
	unsigned n, least = host;

	while (dir && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "host%u", &n) == 1 && n < least)
			least = n;
	return least;
}

static void ata(struct walk *w, const char *name, unsigned bus, unsigned target) {
	uint64_t port = sysfs_number(0, "%s/sys/class/ata_port/%s/port_no", w->root, name);
	char piece[64], piece_short[64];

	if (bus) // behind a port multiplier
		snprintf(piece, sizeof(piece), "ata-%llu.%u.0", (unsigned long long)port, bus);
	else
		snprintf(piece, sizeof(piece), "ata-%llu.%u", (unsigned long long)port, target);
	snprintf(piece_short, sizeof(piece_short), "ata-%llu", (unsigned long long)port);
	prepend(w, piece, piece_short);
}

static void scsi(struct walk *w) {
	unsigned host, channel, target, lun;
	struct walk controller;
	char piece[64];

	if (sscanf(last(w->at), "%u:%u:%u:%u", &host, &channel, &target, &lun) != 4)
		return;
	while (strncmp(last(w->at), "host", 4))
		if (!up(w))
			return;
	controller = *w;
	up(&controller);
	if (!strncmp(last(controller.at), "ata", 3)) {
		ata(w, last(controller.at), channel, target);
	} else {
		host -= lowest_host(controller.at, host);
		snprintf(piece, sizeof(piece), "scsi-%u:%u:%u:%u", host, channel, target, lun);
		prepend(w, piece, piece);
	}
}

static void nvme(struct walk *w, const char *real) {
	char nsid[32], piece[64];
	sysfs_text(nsid, sizeof(nsid), "%s/nsid", real);
	snprintf(piece, sizeof(piece), "nvme-%.20s", nsid);
	prepend(w, piece, piece);
	skip(w, "nvme");
}

static void usb(struct walk *w) {
	const char *port = strchr(last(w->at), '-');
	char piece[128];

	if (port) {
		snprintf(piece, sizeof(piece), "usb-0:%.100s", port + 1);
		prepend(w, piece, piece);
	}
	skip(w, "usb");
}

static void bus(struct walk *w, const char *subsystem) {
	char piece[160];
	snprintf(piece, sizeof(piece), "%s-%.128s", subsystem, last(w->at));
	prepend(w, piece, piece);
	skip(w, subsystem);
	w->bus = true;
}

// udev names these by addresses of their transport, which this walk does not know: no name is better than a wrong one.
static bool other_transport(const char *real) {
	return strstr(real, "/end_device-") || strstr(real, "/rport-") || strstr(real, "/session");
}

void bypath_name(const char *root, const char *real, struct disk *disk) {
	struct walk w = {.root = root};
	char subsystem[64];

	if (other_transport(real))
		return;
	snprintf(w.at, sizeof(w.at), "%s", real);
	while (up(&w)) {
		sysfs_link(subsystem, sizeof(subsystem), "%s/subsystem", w.at);
		if (!strcmp(subsystem, "scsi"))
			scsi(&w);
		else if (!strcmp(subsystem, "nvme"))
			nvme(&w, real);
		else if (!strcmp(subsystem, "usb"))
			usb(&w);
		else if (!strcmp(subsystem, "pci") || !strcmp(subsystem, "platform") || !strcmp(subsystem, "acpi"))
			bus(&w, subsystem);
	}
	if (!w.bus)
		return;
	snprintf(disk->path, sizeof(disk->path), "%s", w.path);
	snprintf(disk->path_short, sizeof(disk->path_short), "%s", w.path_short);
}
