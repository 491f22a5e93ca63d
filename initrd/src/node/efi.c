// SPDX-License-Identifier: Apache-2.0
#include "node/efi.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/operand.h"

#define VARIABLES "sys/firmware/efi/efivars"
#define VENDOR "8be4df61-93ca-11d2-aa0d-00e098032b8c"
#define VARIABLE_MAX 65536

#define ATTRIBUTES 4 // bytes of attributes at the start of a variable's file
#define ACTIVE 0x1
#define CATEGORY 0x1f00 // 0: it boots something

#define PATH_END 0x7f
#define MESSAGING 3
#define MEDIA 4

static unsigned le16(const uint8_t *p) { return (unsigned)p[0] | (unsigned)p[1] << 8; }

size_t efi_count(size_t size) { return size < ATTRIBUTES ? 0 : (size - ATTRIBUTES) / 2; }

uint16_t efi_number(const uint8_t *data, size_t i) { return (uint16_t)le16(data + ATTRIBUTES + 2 * i); }

static enum efi_kind node_kind(uint8_t type, uint8_t subtype) {
	if (type == MEDIA && subtype == 1) // a partition
		return EFI_DISK;
	if (type != MESSAGING)
		return EFI_UNKNOWN;
	switch (subtype) {
	case 11: // MAC
	case 12: // IPv4
	case 13: // IPv6
	case 24: // URI
		return EFI_NETWORK;
	case 1:	 // ATAPI
	case 2:	 // SCSI
	case 10: // SAS
	case 18: // SATA
	case 22: // SAS, extended
	case 23: // NVMe
	case 26: // SD
	case 29: // eMMC
		return EFI_DISK;
	}
	return EFI_UNKNOWN;
}

// A path through a network counts as network, even if a disk is at its end.
static enum efi_kind path_kind(const uint8_t *path, size_t size) {
	enum efi_kind kind = EFI_UNKNOWN;

	while (size >= 4 && path[0] != PATH_END) {
		size_t length = le16(path + 2);
		enum efi_kind of_node = node_kind(path[0], path[1]);

		if (length < 4 || length > size)
			break;
		if (of_node > kind)
			kind = of_node;
		path += length;
		size -= length;
	}
	return kind;
}

int efi_entry_parse(const uint8_t *data, size_t size, struct efi_entry *ret) {
	const size_t head = ATTRIBUTES + 4 + 2;
	size_t at = head, n = 0, path_size;
	unsigned flags;

	*ret = (struct efi_entry){0};
	if (size < head)
		return -EBADMSG;
	flags = le16(data + ATTRIBUTES);
	path_size = le16(data + ATTRIBUTES + 4);
	for (; at + 2 <= size && le16(data + at); at += 2) {
		unsigned c = le16(data + at);
		if (n + 1 < sizeof(ret->name))
			ret->name[n++] = c >= ' ' && c <= '~' ? (char)c : '?';
	}
	if (at + 2 > size || path_size > size - at - 2)
		return -EBADMSG;
	ret->boots = (flags & ACTIVE) && !(flags & CATEGORY);
	ret->kind = path_kind(data + at + 2, path_size);
	return 0;
}

static int read_variable(const char *root, const char *name, char **ret, size_t *ret_size) {
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/" VARIABLES "/%s-" VENDOR, root, name);
	return file_read(path, VARIABLE_MAX, ret, ret_size);
}

static int read_entry(const char *root, uint16_t number, struct efi_entry *ret) {
	cleanup_free char *data = NULL;
	char name[16];
	size_t size;
	int r;

	snprintf(name, sizeof(name), "Boot%04X", (unsigned)number);
	r = read_variable(root, name, &data, &size);
	return r < 0 ? r : efi_entry_parse((const uint8_t *)data, size, ret);
}

// The kind of the first entry that the firmware would try.
static enum efi_kind first_kind(const char *root) {
	cleanup_free char *order = NULL;
	struct efi_entry entry;
	size_t size;

	if (read_variable(root, "BootOrder", &order, &size) < 0)
		return EFI_UNKNOWN;
	for (size_t i = 0; i < efi_count(size); i++)
		if (read_entry(root, efi_number((const uint8_t *)order, i), &entry) == 0 && entry.boots)
			return entry.kind;
	return EFI_UNKNOWN;
}

void efi_describe(const char *root, struct text *text) {
	static const char *const kinds[] = {"unknown", "disk", "network"};
	cleanup_free char *current = NULL;
	struct efi_entry entry = {0};
	char path[PATH_MAX], value[sizeof(entry.name) + 8];
	size_t size;

	snprintf(path, sizeof(path), "%s/sys/firmware/efi", root);
	if (access(path, F_OK) < 0)
		return;
	operand_write(text, "boot_order", kinds[first_kind(root)]);
	if (read_variable(root, "BootCurrent", &current, &size) < 0 || efi_count(size) != 1)
		return;
	(void)read_entry(root, efi_number((const uint8_t *)current, 0), &entry);
	snprintf(value, sizeof(value), "%04X%s%s", (unsigned)efi_number((const uint8_t *)current, 0),
		 *entry.name ? " " : "", entry.name);
	operand_write(text, "boot_current", value);
}
