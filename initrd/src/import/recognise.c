// SPDX-License-Identifier: Apache-2.0
#include "import/recognise.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "image/layout.h"

static bool starts(const uint8_t *data, size_t size, size_t at, const void *bytes, size_t count) {
	return at + count <= size && !memcmp(data + at, bytes, count);
}

// A format that refers to another file by name would include any file of that name on this machine.
static enum import_kind recognise_qcow2(const uint8_t *head, size_t size, const char **ret_why) {
	bool v3 = size >= 80 && head[7] >= 3;

	if (size < 80 || (is_zero(head + 8, 8) && !(v3 && head[79] & 4)))
		return IMPORT_QCOW2;
	*ret_why = "it needs another file (a backing or data file): join them with qemu-img convert first";
	return IMPORT_REFUSED;
}

static enum import_kind recognise_vmdk(const uint8_t *head, size_t size, const char **ret_why) {
	if (!memmem(head, size, "parentFileNameHint", strlen("parentFileNameHint")))
		return IMPORT_VMDK;
	*ret_why = "it is a snapshot of another file: join them with qemu-img convert first";
	return IMPORT_REFUSED;
}

enum import_kind import_recognise(const uint8_t *head, size_t size, const uint8_t *tail, size_t tail_size,
				  const char **ret_why) {
	static const struct {
		size_t at, count;
		const char *bytes;
		enum import_kind kind;
	} magics[] = {
		{0, 2, "\x1f\x8b", IMPORT_GZIP},	  {0, 6, "\xfd" "7zXZ\0", IMPORT_XZ},
			{0, 4, "\x28\xb5\x2f\xfd", IMPORT_ZSTD},
		{0, 3, "BZh", IMPORT_BZIP2},		  {0, 4, "\x04\x22\x4d\x18", IMPORT_LZ4},
			{0, 4, "QFI\xfb", IMPORT_QCOW2},
		{0, 4, "KDMV", IMPORT_VMDK},		  {0, 4, "COWD", IMPORT_VMDK},	       {0, 8, "vhdxfile",
			IMPORT_VHDX},
		{0, 8, "conectix", IMPORT_VPC},		  {64, 4, "\x7f\x10\xda\xbe", IMPORT_VDI},
			{0, 15, "partclone-image", IMPORT_PARTCLONE},
	};

	for (size_t i = 0; i < ELEMENTS(magics); i++) {
		if (!starts(head, size, magics[i].at, magics[i].bytes, magics[i].count))
			continue;
		if (magics[i].kind == IMPORT_QCOW2)
			return recognise_qcow2(head, size, ret_why);
		if (magics[i].kind == IMPORT_VMDK)
			return recognise_vmdk(head, size, ret_why);
		if (magics[i].kind == IMPORT_ZSTD && tail_size == SEEK_FOOTER && seek_table_size(tail))
			return IMPORT_SLED;
		return magics[i].kind;
	}
	if (starts(head, size, 0, "# Disk DescriptorFile", 21)) {
		*ret_why = "it only describes other files: pass the disk itself, or join them with qemu-img convert";
		return IMPORT_REFUSED;
	}
	return IMPORT_RAW;
}
