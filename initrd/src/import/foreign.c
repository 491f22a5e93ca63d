// SPDX-License-Identifier: Apache-2.0
// The offsets are from QEMU's docs/interop/{qcow2,parallels,qed_spec}.txt and the specifications of VMware (Virtual
// Disk Format 5.0), Microsoft (VHD 1.0) and Oracle (VDI 1.1).
#include "import/foreign.h"

#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "image/index.h"

#define SECTOR_BYTES 512u

static const char too_large[] = "its header declares a disk of more than 2^50 bytes";
static const char cut_off[] = "its header is cut off";

static bool has(const uint8_t *data, size_t size, size_t at, const char *bytes) {
	size_t count = strlen(bytes);
	return at + count <= size && !memcmp(data + at, bytes, count);
}

// Version 3 has flags: 4 is the external data file, and from 32 on they are unknown.
static const char *qcow2(const uint8_t *head, size_t size) {
	uint32_t version;

	if (size < 72)
		return cut_off;
	version = get_be32(head + 4);
	if (version != 2 && version != 3)
		return "it is a qcow of another version than 2 and 3: convert it to qcow2 with qemu-img first";
	if (version == 3 && size < 104)
		return cut_off;
	if (!is_zero(head + 8, 8) || (version == 3 && head[79] & 4))
		return "it needs another file (a backing or data file): join them with qemu-img convert first";
	if (get_be32(head + 32) != 0)
		return "it is encrypted: decrypt it with qemu-img convert first";
	return get_be64(head + 24) > DISK_MAX ? too_large : NULL;
}

// The text of the descriptor that lies in the file.
static bool find_descriptor(const uint8_t *head, size_t size, const uint8_t **ret, size_t *ret_size) {
	uint64_t at = get_le64(head + 28), count = get_le64(head + 36);

	if (at == 0 || count == 0 || at >= size / SECTOR_BYTES || count > size / SECTOR_BYTES - at)
		return false;
	*ret = head + at * SECTOR_BYTES;
	*ret_size = strnlen((const char *)*ret, (size_t)count * SECTOR_BYTES);
	return true;
}

static bool contains(const uint8_t *text, size_t size, const char *word) {
	return memmem(text, size, word, strlen(word)) != NULL;
}

// QEMU opens the files that a descriptor names: believed is only one that names the file itself.
static const char *vmdk(const uint8_t *head, size_t size) {
	const uint8_t *text;
	size_t text_size;

	if (size < SECTOR_BYTES)
		return cut_off;
	if (has(head, size, 0, "COWD") || get_le64(head + 12) == 0 || !find_descriptor(head, size, &text, &text_size))
		return "it is a vmdk whose content is in several files: join them with qemu-img convert first";
	if (get_le64(head + 12) > DISK_MAX / SECTOR_BYTES)
		return too_large;
	if (contains(head, size, "parentFileNameHint"))
		return "it is a snapshot of another file: join them with qemu-img convert first";
	if (!contains(text, text_size, "createType=\"monolithicSparse\"") &&
	    !contains(text, text_size, "createType=\"streamOptimized\""))
		return "it is a vmdk of another type than monolithicSparse and streamOptimized: convert it with "
		       "qemu-img first";
	return NULL;
}

static const char *vpc(const uint8_t *head, size_t size) {
	if (size < SECTOR_BYTES)
		return cut_off;
	if (get_be32(head + 60) == 4)
		return "it is a snapshot of another file (a differencing VHD): merge them first";
	return get_be64(head + 48) > DISK_MAX ? too_large : NULL;
}

bool foreign_is_fixed_vhd(const uint8_t *footer, uint64_t bytes) {
	uint32_t sum = 0;

	for (size_t i = 0; i < SECTOR_BYTES; i++)
		sum += i < 64 || i >= 68 ? footer[i] : 0;
	return has(footer, SECTOR_BYTES, 0, "conectix") && get_be32(footer + 60) == 2 &&
	       get_be32(footer + 64) == ~sum && get_be64(footer + 48) == bytes - SECTOR_BYTES;
}

static const char *vdi(const uint8_t *head, size_t size) {
	if (size < SECTOR_BYTES)
		return cut_off;
	if (get_le32(head + 76) != 1 && get_le32(head + 76) != 2)
		return "it is a snapshot of another file: merge them with VBoxManage clonemedium first";
	return get_le64(head + 368) > DISK_MAX ? too_large : NULL;
}

const char *foreign_objection(enum import_kind kind, const uint8_t *head, size_t size) {
	switch (kind) {
	case IMPORT_QCOW2: return qcow2(head, size);
	case IMPORT_VMDK: return vmdk(head, size);
	case IMPORT_VPC: return vpc(head, size);
	case IMPORT_VDI: return vdi(head, size);
	default: return NULL;
	}
}

const char *foreign_unsupported(const uint8_t *head, size_t size, const uint8_t *tail, size_t tail_size) {
	static const struct {
		const char *bytes, *why;
	} formats[] = {
		{"# Disk DescriptorFile",
		 "it only describes other files: pass the disk itself, or join them with qemu-img convert"},
		{"WithoutFreeSpace", "it is a disk of Parallels: convert it with qemu-img convert -f parallels first"},
		{"WithouFreSpacExt", "it is a disk of Parallels: convert it with qemu-img convert -f parallels first"},
		{"Bochs Virtual HD Image", "it is a disk of Bochs: convert it with qemu-img convert -f bochs first"},
	};

	for (size_t i = 0; i < ELEMENTS(formats); i++)
		if (has(head, size, 0, formats[i].bytes))
			return formats[i].why;
	if (size >= 4 && !memcmp(head, "QED", 4)) // with the zero at its end
		return "it is a QED disk: convert it with qemu-img convert -f qed first";
	return tail_size == IMPORT_TAIL && has(tail, tail_size, 0, "koly")
		       ? "it is a disk of Apple (dmg): convert it with qemu-img convert -f dmg first"
		       : NULL;
}
