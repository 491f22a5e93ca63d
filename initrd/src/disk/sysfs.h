// SPDX-License-Identifier: Apache-2.0
// Reads sysfs attributes below a root ("" or, in tests, a directory with a copy).
#pragma once

#include <stddef.h>
#include <stdint.h>

// Reads the first line of the file, trimmed, with unprintable bytes as "?"; sets "" if it cannot be read.
void sysfs_text(char *ret, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
uint64_t sysfs_number(uint64_t otherwise, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Reads the last component of a link's target; sets "" if it is no link.
void sysfs_link(char *ret, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Makes a text from hardware printable and trims it, in place.
void sysfs_clean(char *text);
