// SPDX-License-Identifier: Apache-2.0
// What UEFI boots: the variables BootOrder, BootCurrent and BootNNNN (UEFI specification, 3.1 and 10.3), as files of
// efivarfs.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum efi_kind { EFI_UNKNOWN, EFI_DISK, EFI_NETWORK };

struct efi_entry {
	bool boots; // active, and not an application of the firmware
	enum efi_kind kind;
	char name[128]; // printable ASCII, anything else as "?"
};

// Parses an entry from the file of a variable. -EBADMSG if it is none. Pure.
int efi_entry_parse(const uint8_t *data, size_t size, struct efi_entry *ret);

// The count of numbers in the file of a variable, and one of them. Pure.
size_t efi_count(size_t size);
uint16_t efi_number(const uint8_t *data, size_t i);

// Adds " boot_order=... boot_current=..." (contract/report.md, operational); nothing without UEFI.
void efi_describe(const char *root, struct text *text);
