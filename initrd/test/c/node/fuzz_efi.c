// SPDX-License-Identifier: Apache-2.0
// What the firmware's variables may hold.
#include <stdint.h>
#include <string.h>

#include "node/efi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct efi_entry entry;

	if (efi_entry_parse(data, size, &entry) == 0 && strlen(entry.name) >= sizeof(entry.name))
		__builtin_trap();
	for (size_t i = 0; i < efi_count(size); i++)
		(void)efi_number(data, i);
	return 0;
}
