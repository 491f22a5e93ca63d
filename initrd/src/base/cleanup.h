// SPDX-License-Identifier: Apache-2.0
// Cleanup by attribute: a variable releases what it owns at the end of its scope; steal_* moves ownership out of it.
#pragma once

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free_(void *p) { free(*(void **)p); }

static inline void cleanup_close_(int *fd) {
	int saved = errno;
	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

static inline void cleanup_dir_(DIR **d) {
	if (*d)
		closedir(*d);
}

static inline void cleanup_file_(FILE **f) {
	if (*f)
		fclose(*f);
}

#define cleanup_free __attribute__((cleanup(cleanup_free_)))
#define cleanup_close __attribute__((cleanup(cleanup_close_)))
#define cleanup_dir __attribute__((cleanup(cleanup_dir_)))
#define cleanup_file __attribute__((cleanup(cleanup_file_)))
#define cleanup_with(function) __attribute__((cleanup(function)))

#define steal_pointer(p)                         \
	(__extension__({                         \
		__typeof__(*(p)) stolen_ = *(p); \
		*(p) = NULL;                     \
		stolen_;                         \
	}))

static inline int steal_fd(int *fd) {
	int stolen = *fd;
	*fd = -1;
	return stolen;
}

#define ELEMENTS(a) (sizeof(a) / sizeof((a)[0]))
