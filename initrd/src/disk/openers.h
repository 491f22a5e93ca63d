// SPDX-License-Identifier: Apache-2.0
// Who else has a file open.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

bool is_same_file(const char *path, const struct stat *file);

// Whether another process has it open for writing, with `readers` in any way. Sets `ret` to its name and number, for
// people. Without root only processes of the same user are known.
bool openers_find(const struct stat *file, bool readers, char *ret, size_t size);

// Asks the kernel the same by a lease (fcntl(2), F_SETLEASE), which sees every opener: also processes of others, memory
// that is mapped, loop devices, swap. 0: nobody; -EAGAIN: somebody; another error: not known of this file. `fd` is
// the only one of this process, read-only or, with `readers`, for writing.
int openers_ask(int fd, bool readers);
