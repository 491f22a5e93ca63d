// SPDX-License-Identifier: Apache-2.0
#include "node/kexec.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <stdbool.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"

#define MOUNTS_MAX (4u << 20)	// bytes of /proc/mounts
#define READ_ONLY_ATTEMPTS 100u // 0.1 s each
#ifndef ENOTSUPP
#define ENOTSUPP 524 // the kernel returns it, but the headers for programs do not define it
#endif

static long linux_load(int kernel, int initrd, unsigned long size, const char *arguments, unsigned long flags) {
	return syscall(SYS_kexec_file_load, kernel, initrd, size, arguments, flags);
}

static int linux_write(const char *path, const char *text) {
	cleanup_close int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : file_write_fd(fd, text, strlen(text));
}

static int linux_jump(void) { return reboot(LINUX_REBOOT_CMD_KEXEC) < 0 ? -errno : 0; }

const struct kexec_ops kexec_linux = {linux_load, linux_write, linux_jump};

// Code 3 permits the older call, which checks nothing (initrd/lib/kexec.sh). So it is only for errors that the kernel
// never returns about a signature. ENOTSUPP is none of those: it is also a signature of an unknown kind.
static enum exit_code code_of(int error) {
	switch (error) {
	case ENOSYS:
	case ENOEXEC: return CODE_UNSUPPORTED;
	case EKEYREJECTED:
	case EKEYEXPIRED:
	case EKEYREVOKED:
	case ENOKEY:
	case ENOPKG:
	case ENODATA:
	case EBADMSG:
	case ELIBBAD:
	case ENOTSUPP:
	case EOPNOTSUPP:
	case EPERM:
	case EACCES: return CODE_INTEGRITY;
	default: return CODE_FAILED;
	}
}

// NULL: the text of the errno is all there is to report.
static const char *reason_of(int error) {
	switch (error) {
	case ENOSYS: return "the running kernel does not support kexec_file_load";
	case ENOEXEC: return "kexec_file_load cannot load this format, or the kernel is of another architecture";
	case EKEYREJECTED:
		return "the kernel was changed after it was signed, or the running kernel cannot check its signature";
	case EKEYEXPIRED:
	case EKEYREVOKED: return "the key of its signature is expired or revoked";
	case ENOKEY:
		return "signed by a key that the running kernel does not trust; the key belongs in the firmware's db";
	case ENODATA: return "it has no signature";
	case ENOPKG:
	case EBADMSG:
	case ELIBBAD:
	case ENOTSUPP:
	case EOPNOTSUPP: return "its signature cannot be read";
	case EPERM:
	case EACCES:
		return "not permitted: unsigned on a locked-down system, kernel.kexec_load_disabled is 1, refused by a "
		       "security module, or the user is not root";
	case ENOMEM:
	case EADDRNOTAVAIL: return "not enough memory for kernel and initrd";
	case EBUSY: return "another process is loading a kernel";
	default: return NULL;
	}
}

static int refusal(int error, const char *kernel, struct fault *fault) {
	const char *reason = reason_of(error);
	enum exit_code code = code_of(error);

	return reason ? fault_errno(fault, code, error, "%s: %s", kernel, reason)
		      : fault_errno(fault, code, error, "%s cannot be loaded", kernel);
}

static int read_arguments(const char *path, char **ret, size_t *ret_size, struct fault *fault) {
	cleanup_free char *text = NULL;
	size_t size = 0;
	int r = file_read(path, ARGUMENTS_MAX + 1, &text, &size);

	if (r < 0 && r != -EFBIG)
		return fault_errno(fault, CODE_FAILED, r, "%s", path);
	if (r == 0 && size > 0 && text[size - 1] == '\n')
		text[--size] = 0;
	if (r == -EFBIG || size > ARGUMENTS_MAX)
		return fault_set(fault, CODE_USAGE, "%s: more than %u bytes, the maximum of kernel arguments", path,
				 ARGUMENTS_MAX);
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)text[i] < ' ')
			return fault_set(fault, CODE_USAGE,
					 "%s: byte %zu is 0x%02x: the file must contain one line of kernel arguments",
					 path, i, text[i]);
	*ret = steal_pointer(&text);
	*ret_size = size;
	return 0;
}

int kexec_load(const struct kexec_ops *ops, const char *kernel, const char *initrd, const char *arguments,
	       struct fault *fault) {
	cleanup_close int kernel_fd = -1, initrd_fd = -1;
	cleanup_free char *text = NULL;
	size_t size = 0;
	int r = read_arguments(arguments, &text, &size, fault);

	if (r < 0)
		return r;
	kernel_fd = open(kernel, O_RDONLY | O_CLOEXEC);
	if (kernel_fd < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", kernel);
	initrd_fd = initrd ? open(initrd, O_RDONLY | O_CLOEXEC) : -1;
	if (initrd && initrd_fd < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", initrd);
	if (ops->load(kernel_fd, initrd_fd, size + 1, text, initrd ? 0 : KEXEC_FILE_NO_INITRAMFS) < 0)
		return refusal(errno, kernel, fault);
	return 0;
}

int kexec_unload(const struct kexec_ops *ops, struct fault *fault) {
	return ops->load(-1, -1, 0, NULL, KEXEC_FILE_UNLOAD) < 0
		       ? fault_errno(fault, CODE_FAILED, errno, "unloading the kernel")
		       : 0;
}

// Whether a filesystem on a block device is still writable; true also if that is unknown.
static bool writable(const char *mounts) {
	cleanup_free char *text = NULL;
	char *rest = NULL;

	if (file_read(mounts, MOUNTS_MAX, &text, NULL) < 0)
		return true;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *word = NULL, *device = strtok_r(line, " ", &word), *options = NULL;
		for (int i = 0; i < 3; i++)
			options = strtok_r(NULL, " ", &word);
		if (device && options && !strncmp(device, "/dev/", 5) &&
		    (!strncmp(options, "rw,", 3) || !strcmp(options, "rw")))
			return true;
	}
	return false;
}

// The kernel remounts asynchronously. One filesystem that stays writable must not stop the jump: the disk is going to
// be overwritten anyway.
static void make_read_only(const struct kexec_ops *ops, const char *mounts) {
	static const struct timespec pause = {.tv_nsec = 100000000};

	if (ops->write("/proc/sysrq-trigger", "u") < 0)
		return;
	for (unsigned i = 0; i < READ_ONLY_ATTEMPTS && writable(mounts); i++)
		nanosleep(&pause, NULL);
}

int kexec_jump(const struct kexec_ops *ops, const char *loaded, const char *mounts, struct fault *fault) {
	cleanup_free char *text = NULL;
	int r = file_read(loaded, 16, &text, NULL);

	if (r < 0)
		return fault_errno(fault, CODE_UNSUPPORTED, r, "%s", loaded);
	if (text[0] != '1')
		return fault_set(fault, CODE_USAGE, "no kernel is loaded: run sledc load first");
	sync();
	make_read_only(ops, mounts);
	return fault_errno(fault, CODE_FAILED, ops->jump(), "the jump to the loaded kernel");
}
