// SPDX-License-Identifier: Apache-2.0
// Indexes of images. One that is taken is written again to the same bytes.
#include <stdlib.h>
#include <string.h>

#include "image/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct index index = {0};
	struct fault fault = {0};
	uint8_t *again = NULL;
	size_t size_again;

	if (index_parse(data, size, &index, &fault) < 0) {
		if (fault.code != CODE_INTEGRITY && fault.code != CODE_UNSUPPORTED)
			abort();
		return 0;
	}
	if (index_encode(&index, &again, &size_again) < 0 || size_again != size || memcmp(again, data, size) != 0)
		abort();
	if (file_size(&index, size) < index_end(&index) + size || index.used > index.bytes)
		abort();
	free(again);
	index_free(&index);
	return 0;
}
