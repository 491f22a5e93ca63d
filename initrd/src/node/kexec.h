// SPDX-License-Identifier: Apache-2.0
// Replaces the running kernel by another one, without the firmware. The system calls are behind a seam, so that tests
// can replace them.
#pragma once

#include "base/fault.h"

#define ARGUMENTS_MAX 2047u // bytes of a kernel's arguments (x86_64, arm64)

struct kexec_ops {
	// as the system call: -1 and errno
	long (*load)(int kernel, int initrd, unsigned long size, const char *arguments, unsigned long flags);
	int (*write)(const char *path, const char *text); // -errno
	// returns only if it fails
	int (*jump)(void);
};

extern const struct kexec_ops kexec_linux;

// Loads from files; `initrd` may be NULL. `arguments` is a file too, because it may contain a secret; a line feed at
// its end is ignored. CODE_UNSUPPORTED: kexec_file_load cannot load this kernel. CODE_INTEGRITY: the running kernel
// refuses it.
int kexec_load(const struct kexec_ops *ops, const char *kernel, const char *initrd, const char *arguments,
	       struct fault *fault);

// Unloads the loaded kernel, if there is one.
int kexec_unload(const struct kexec_ops *ops, struct fault *fault);

// Syncs, makes as many filesystems read-only as the kernel can, and starts the loaded kernel. Returns only if that
// fails. `loaded` and `mounts` are the kernel's files with the current state; if no kernel is loaded, nothing is done.
int kexec_jump(const struct kexec_ops *ops, const char *loaded, const char *mounts, struct fault *fault);
