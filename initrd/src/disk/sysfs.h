// SPDX-License-Identifier: Apache-2.0
// Reading of sysfs attributes below a root ("" or, in tests, a directory that holds a copy).
#pragma once

#include <stddef.h>
#include <stdint.h>

// First line of root + path formatted, blanks at the ends cut, not printing bytes made "?". "" when it cannot be read.
void sysfs_text(char *ret, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
uint64_t sysfs_number(uint64_t otherwise, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Last component of what a link points to; "" when it is none.
void sysfs_link(char *ret, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Makes a text that came from hardware printable and trims it, in place.
void sysfs_clean(char *text);
