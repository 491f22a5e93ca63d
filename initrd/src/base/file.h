// SPDX-License-Identifier: Apache-2.0
// Reading and writing of whole small files.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

// At most `max` bytes; NUL-terminated copy, to be freed. -EFBIG when the file is longer.
int file_read(const char *path, size_t max, char **ret_data, size_t *ret_size);
int file_read_fd(int fd, size_t max, char **ret_data, size_t *ret_size);

// Reads the last `max` bytes of a file, or all of it.
int file_read_tail(const char *path, size_t max, char **ret_data, size_t *ret_size);

// Atomic: the new file is written beside the old one, synced and renamed.
int file_write_atomic(const char *path, mode_t mode, const void *data, size_t size);

// All of it, through EINTR and short writes.
int file_write_fd(int fd, const void *data, size_t size);

// Returns whether somebody has written to it between two calls of stat.
bool file_changed(const struct stat *before, const struct stat *after);
