// SPDX-License-Identifier: Apache-2.0
// Another kernel in place of the one that runs, without firmware. The kernel's part is behind a seam, so that tests can
// play it.
#pragma once

#include "base/fault.h"

#define ARGUMENTS_MAX 2047u // bytes of a kernel's arguments (x86_64, arm64)

struct kexec_ops {
	// as the system call: -1 and errno
	long (*load)(int kernel, int initrd, unsigned long size, const char *arguments, unsigned long flags);
	int (*write)(const char *path, const char *text);						      // -errno
	// returns only when it cannot
	int (*jump)(void);
};

extern const struct kexec_ops kexec_linux;

// Loads from files. `arguments` is a file too, because it holds a secret; a line feed at its end is not part of it.
int kexec_load(const struct kexec_ops *ops, const char *kernel, const char *initrd, const char *arguments,
	       struct fault *fault);

// Forgets what is loaded; nothing loaded is fine.
int kexec_unload(const struct kexec_ops *ops, struct fault *fault);

// Syncs, makes every filesystem read-only as far as the kernel can, and starts what is loaded. Returns only when that
// failed. `loaded` and `mounts` are the kernel's files that say what is; where nothing is loaded, nothing is done.
int kexec_jump(const struct kexec_ops *ops, const char *loaded, const char *mounts, struct fault *fault);
