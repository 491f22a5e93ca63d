// SPDX-License-Identifier: Apache-2.0
#include "import/recognise.h"

#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "image/layout.h"
#include "import/foreign.h"
#include "import/ndz_chunk.h"

static bool starts(const uint8_t *data, size_t size, size_t at, const void *bytes, size_t count) {
	return at + count <= size && !memcmp(data + at, bytes, count);
}

enum import_kind import_recognise(const uint8_t *head, size_t size, const uint8_t *tail, size_t tail_size,
				  const char **ret_why) {
	static const struct {
		size_t at, count;
		const char *bytes;
		enum import_kind kind;
	} magics[] = {
		{0, 2, "\x1f\x8b", IMPORT_GZIP},
		{0, 6, "\xfd\x37zXZ\0", IMPORT_XZ},
		{0, 4, "\x28\xb5\x2f\xfd", IMPORT_ZSTD},
		{0, 3, "BZh", IMPORT_BZIP2},
		{1, 3, "\x2a\x4d\x18", IMPORT_ZSTD}, // after a frame that is skipped (RFC 8878, 3.1.2): pzstd
		{0, 4, "\x04\x22\x4d\x18", IMPORT_LZ4},
		{0, 4, "\x02\x21\x4c\x18", IMPORT_LZ4}, // the format of lz4 -l
		{0, 4, "QFI\xfb", IMPORT_QCOW2},
		{0, 4, "KDMV", IMPORT_VMDK},
		{0, 4, "COWD", IMPORT_VMDK},
		{0, 8, "vhdxfile", IMPORT_VHDX},
		{0, 8, "conectix", IMPORT_VPC},
		{64, 4, "\x7f\x10\xda\xbe", IMPORT_VDI},
		{0, 15, "partclone-image", IMPORT_PARTCLONE},
	};

	for (size_t i = 0; i < ELEMENTS(magics); i++) {
		if (!starts(head, size, magics[i].at, magics[i].bytes, magics[i].count))
			continue;
		if (magics[i].kind == IMPORT_ZSTD && tail_size >= SEEK_FOOTER &&
		    seek_table_size(tail + tail_size - SEEK_FOOTER))
			return IMPORT_SLED;
		*ret_why = foreign_objection(magics[i].kind, head, size);
		return *ret_why ? IMPORT_REFUSED : magics[i].kind;
	}
	*ret_why = NULL;
	if (ndz_starts(head, size))
		return IMPORT_NDZ;
	*ret_why = foreign_unsupported(head, size, tail, tail_size);
	return *ret_why ? IMPORT_REFUSED : IMPORT_RAW;
}
