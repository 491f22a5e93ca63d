// SPDX-License-Identifier: Apache-2.0
// Orders of versions: positive if `a` is newer. Pure.
#pragma once

// Of rpm, for names NAME-VERSION-RELEASE: GRUB's order of entries of the Boot Loader Specification.
int version_compare_packages(const char *a, const char *b);

// Of the Boot Loader Specification: systemd-boot's. NULL is the oldest.
int version_compare(const char *a, const char *b);
