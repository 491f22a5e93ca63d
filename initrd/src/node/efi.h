// SPDX-License-Identifier: Apache-2.0
// What UEFI boots: its variables BootOrder, BootCurrent and BootNNNN (UEFI specification, 3.1 and 10.3), as files of
// efivarfs hold them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum efi_kind { EFI_UNKNOWN, EFI_DISK, EFI_NETWORK };

struct efi_entry {
	bool boots; // active, and no application of the firmware's own
	enum efi_kind kind;
	char name[128]; // printable ASCII, anything else as "?"
};

// An entry from a variable's file. -EBADMSG when it is none. Pure.
int efi_entry_parse(const uint8_t *data, size_t size, struct efi_entry *ret);

// How many numbers a variable's file holds, and one of them. Pure.
size_t efi_count(size_t size);
uint16_t efi_number(const uint8_t *data, size_t i);

// Adds " boot_order=... boot_current=..." (contract/report.md, operational); nothing where there is no UEFI.
void efi_describe(const char *root, struct text *text);
