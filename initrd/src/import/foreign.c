// SPDX-License-Identifier: Apache-2.0
// The offsets are from QEMU's docs/interop/{qcow2,parallels,qed_spec}.txt and the specifications of VMware (Virtual
// Disk Format 5.0), Microsoft (VHD 1.0) and Oracle (VDI 1.1).
#include "import/foreign.h"

#include <stdlib.h>
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

// Frames whose window is larger need more memory than its program gets (RFC 8878, 3.1.1.1.2).
static const char *zstd(const uint8_t *head, size_t size) {
	if (size < 6 || head[0] != 0x28 || head[4] & 0x20 || head[5] >> 3 <= ZSTD_WINDOW_LOG - 10)
		return NULL;
	return "it was compressed with a window of more than 1 GiB: decompress it first, with zstd -d --long=31";
}

const char *foreign_objection(enum import_kind kind, const uint8_t *head, size_t size) {
	switch (kind) {
	case IMPORT_QCOW2: return qcow2(head, size);
	case IMPORT_VMDK: return vmdk(head, size);
	case IMPORT_VPC: return vpc(head, size);
	case IMPORT_VDI: return vdi(head, size);
	case IMPORT_ZSTD: return zstd(head, size);
	default: return NULL;
	}
}

// An ISO 9660 starts from a disk only if it has a partition table too (isohybrid).
static bool is_disc(const uint8_t *head, size_t size) {
	return size > 32774 && !memcmp(head + 32769, "CD001", 5) &&
	       (head[510] != 0x55 || head[511] != 0xaa || is_zero(head + 446, 64));
}

// The checksum of its first header (POSIX.1-1988 ustar, also older and newer ones): octal, spaces in its own place.
static bool is_tar(const uint8_t *head, size_t size) {
	char digits[9] = "";
	unsigned sum = 8 * ' ';

	if (size < SECTOR_BYTES || head[0] == 0)
		return false;
	for (size_t i = 0; i < SECTOR_BYTES; i++)
		sum += i < 148 || i >= 156 ? head[i] : 0;
	memcpy(digits, head + 148, 8);
	return strspn(digits, " 01234567") >= 6 && strtoul(digits, NULL, 8) == sum;
}

#define UNPACK ": unpack it first, and pass the disk that is in it"
#define DECOMPRESS ": decompress it first"
#define RESTORE ": restore it to a disk first, and pass that disk"

static const struct {
	size_t size;
	const char *bytes, *why;
} refused[] = {
	{21, "# Disk DescriptorFile",
	 "it only describes other files: pass the disk itself, or join them with qemu-img convert"},
	{16, "WithoutFreeSpace", "it is a disk of Parallels: convert it with qemu-img convert -f parallels first"},
	{16, "WithouFreSpacExt", "it is a disk of Parallels: convert it with qemu-img convert -f parallels first"},
	{22, "Bochs Virtual HD Image", "it is a disk of Bochs: convert it with qemu-img convert -f bochs first"},
	{4, "QED\0", "it is a QED disk: convert it with qemu-img convert -f qed first"},
	{4, "\x3a\xff\x26\xed", "it is an Android sparse image: convert it with simg2img first"},
	{4, "PK\3\4", "it is an archive (zip)" UNPACK},
	{4, "PK\5\6", "it is an archive (zip)" UNPACK},
	{6, "7z\xbc\xaf\x27\x1c", "it is an archive (7z)" UNPACK},
	{6, "Rar!\x1a\x07", "it is an archive (rar)" UNPACK},
	{5, "07070", "it is an archive (cpio)" UNPACK},
	{8, "!<arch>\n", "it is an archive (ar)" UNPACK},
	{4, "MSCF", "it is an archive (cab)" UNPACK},
	{4, "xar!", "it is an archive (xar)" UNPACK},
	{8, "MSWIM\0\0\0", "it is a Windows image file (WIM), which holds files, not a disk: apply it to a disk first"},
	{4, "LZIP", "it is compressed (lzip)" DECOMPRESS},
	{4, "LRZI", "it is compressed (lrzip)" DECOMPRESS},
	{9, "\x89LZO\0\r\n\x1a\n", "it is compressed (lzop)" DECOMPRESS},
	{2, "\x1f\x9d", "it is compressed (compress)" DECOMPRESS},
	{5, "\x5d\0\0\x80\0", "it is compressed (lzma)" DECOMPRESS},
	{16, "\0ntfsclone-image", "it is a backup of ntfsclone" RESTORE},
	{16, "PaRtImAgE-VoLuMe", "it is a backup of partimage" RESTORE},
	{5, "FsArC", "it is a backup of fsarchiver" RESTORE},
	{13, "btrfs-stream", "it is a stream of btrfs send: receive it on a disk first, and pass that disk"},
	{8, "EVF\x09\x0d\x0a\xff\0", "it is an EnCase image: export it with ewfexport first"},
};

const char *foreign_unsupported(const uint8_t *head, size_t size, const uint8_t *tail, size_t tail_size) {
	for (size_t i = 0; i < ELEMENTS(refused); i++)
		if (size >= refused[i].size && !memcmp(head, refused[i].bytes, refused[i].size))
			return refused[i].why;
	if (is_tar(head, size))
		return "it is an archive (tar)" UNPACK;
	if (is_disc(head, size))
		return "it is the image of an optical disc (ISO 9660) without a partition table: install from it, and "
		       "pass the disk of that machine";
	return tail_size == IMPORT_TAIL && has(tail, tail_size, 0, "koly")
		       ? "it is a disk of Apple (dmg): convert it with qemu-img convert -f dmg first"
		       : NULL;
}
