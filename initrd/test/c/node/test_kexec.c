// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/kexec.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "node/kexec.h"
#include "tap.h"

// The kernel's part: fails with `error`, else keeps what it was given.
static struct {
	int error;
	char arguments[ARGUMENTS_MAX + 1], kernel[16], initrd[16], order[16], wrote[64];
	unsigned long size, flags;
} linux_;

static void note(const char *what) { strcat(linux_.order, what); }

static void content(int fd, char ret[16]) {
	ssize_t n = pread(fd, ret, 15, 0);
	ret[n > 0 ? n : 0] = 0;
}

static long load(int kernel, int initrd, unsigned long size, const char *arguments, unsigned long flags) {
	note("l");
	linux_.size = size;
	linux_.flags = flags;
	if (arguments)
		memcpy(linux_.arguments, arguments, size);
	content(kernel, linux_.kernel);
	content(initrd, linux_.initrd);
	errno = linux_.error;
	return linux_.error ? -1 : 0;
}

static int written(const char *path, const char *text) {
	note("w");
	snprintf(linux_.wrote, sizeof(linux_.wrote), "%s %s", path, text);
	return 0;
}

static int jump(void) {
	note("j");
	return -linux_.error;
}

static const struct kexec_ops ops = {load, written, jump};
static char kernel[64], initrd[64], arguments[64], mounts[64];

static void put(char *path, const char *name, const char *data, size_t size) {
	snprintf(path, 64, "%s", name);
	if (file_write_atomic(path, 0600, data, size) < 0)
		abort();
}

static int loaded(int error, struct fault *fault) {
	memset(&linux_, 0, sizeof(linux_));
	linux_.error = error;
	return kexec_load(&ops, kernel, initrd, arguments, fault);
}

static void refused(int error, enum exit_code code, const char *words) {
	struct fault fault = {0};
	int r = loaded(error, &fault);
	ok(r < 0 && fault.code == code && strstr(fault.text, words), "%s: %d %s", strerror(error), fault.code,
	   fault.text);
	ok(!strstr(fault.text, "sledb_"), "and the arguments are not told");
}

static void test_load(void) {
	struct fault fault = {0};

	ok(loaded(0, &fault) == 0, "a kernel is loaded");
	same(linux_.kernel, "bzImage", "the kernel's file");
	same(linux_.initrd, "cpio", "the initrd's file");
	same(linux_.arguments, "quiet sled.token=sledb_1", "the line without its line feed");
	ok(linux_.size == strlen(linux_.arguments) + 1 && linux_.flags == 0, "with its NUL");
	linux_.flags = 0;
	ok(kexec_load(&ops, kernel, NULL, arguments, &fault) == 0 && linux_.flags == KEXEC_FILE_NO_INITRAMFS,
	   "without an initrd");
}

static void test_refusals(void) {
	refused(ENOSYS, CODE_UNSUPPORTED, "not support kexec_file_load");
	refused(ENOEXEC, CODE_UNSUPPORTED, "another architecture");
	refused(EKEYREJECTED, CODE_INTEGRITY, "changed after it was signed");
	refused(EKEYEXPIRED, CODE_INTEGRITY, "expired or revoked");
	refused(EKEYREVOKED, CODE_INTEGRITY, "expired or revoked");
	refused(ENOKEY, CODE_INTEGRITY, "does not trust");
	refused(ENODATA, CODE_INTEGRITY, "no signature");
	refused(ENOPKG, CODE_INTEGRITY, "cannot be read");
	refused(EBADMSG, CODE_INTEGRITY, "cannot be read");
	refused(ELIBBAD, CODE_INTEGRITY, "cannot be read");
	refused(524, CODE_INTEGRITY, "cannot be read"); // ENOTSUPP
	refused(EOPNOTSUPP, CODE_INTEGRITY, "cannot be read");
	refused(EPERM, CODE_INTEGRITY, "locked-down");
	refused(EACCES, CODE_INTEGRITY, "security module");
	refused(ENOMEM, CODE_FAILED, "not enough memory");
	refused(EADDRNOTAVAIL, CODE_FAILED, "not enough memory");
	refused(EBUSY, CODE_FAILED, "another process");
	refused(EINVAL, CODE_FAILED, "cannot be loaded");
	refused(EIO, CODE_FAILED, "cannot be loaded");
}

static void test_files(void) {
	char longest[ARGUMENTS_MAX + 2];
	struct fault fault = {0};

	memset(longest, 'x', sizeof(longest));
	longest[ARGUMENTS_MAX] = '\n';
	put(arguments, "arguments", longest, ARGUMENTS_MAX + 1);
	ok(loaded(0, &fault) == 0 && linux_.size == ARGUMENTS_MAX + 1, "the longest arguments");
	longest[ARGUMENTS_MAX] = 'x';
	put(arguments, "arguments", longest, ARGUMENTS_MAX + 1);
	ok(loaded(0, &fault) < 0 && fault.code == CODE_USAGE && strstr(fault.text, "2047"), "one more: %s", fault.text);
	put(arguments, "arguments", longest, ARGUMENTS_MAX + 2);
	ok(loaded(0, &fault) < 0 && fault.code == CODE_USAGE, "and another");
	put(arguments, "arguments", "a\nb", 3);
	ok(loaded(0, &fault) < 0 && fault.code == CODE_USAGE && strstr(fault.text, "0x0a"), "two lines: %s",
	   fault.text);
	put(arguments, "arguments", "a\0b", 3);
	ok(loaded(0, &fault) < 0 && fault.code == CODE_USAGE && strstr(fault.text, "0x00"), "a NUL: %s", fault.text);
	put(arguments, "arguments", "", 0);
	ok(loaded(0, &fault) == 0 && linux_.size == 1, "none");
	unlink(initrd);
	ok(loaded(0, &fault) < 0 && fault.code == CODE_FAILED && strstr(fault.text, "initrd: No such file"), "%s",
	   fault.text);
	ok(!linux_.order[0], "and the kernel was not asked");
}

static int jumped(int error, const char *holds, const char *mounted, struct fault *fault) {
	char path[64];

	memset(&linux_, 0, sizeof(linux_));
	linux_.error = error;
	put(path, "loaded", holds, strlen(holds));
	put(mounts, "mounts", mounted, strlen(mounted));
	return kexec_jump(&ops, path, mounts, fault);
}

static void test_jump(void) {
	struct fault fault = {0};

	jumped(EBUSY, "1\n", "/dev/vda2 / ext4 ro,relatime 0 0\ntmpfs /run tmpfs rw 0 0\n", &fault);
	same(linux_.order, "wj", "read-only first, then the jump");
	same(linux_.wrote, "/proc/sysrq-trigger u", "by the kernel itself");
	ok(fault.code == CODE_FAILED, "%s", fault.text);
	ok(jumped(0, "0\n", "", &fault) < 0 && fault.code == CODE_USAGE && strstr(fault.text, "no kernel is loaded"),
	   "%s", fault.text);
	same(linux_.order, "", "and the filesystems are left alone");
	ok(kexec_jump(&ops, "none", mounts, &fault) < 0 && fault.code == CODE_UNSUPPORTED, "%s", fault.text);
	linux_.error = EIO;
	ok(kexec_unload(&ops, &fault) < 0 && linux_.flags == KEXEC_FILE_UNLOAD, "unload: %s", fault.text);
	linux_.error = 0;
	ok(kexec_unload(&ops, &fault) == 0, "unload");
}

int main(void) {
	if (!getenv("TMPDIR") || chdir(getenv("TMPDIR")) < 0)
		abort();
	put(kernel, "kernel", "bzImage", 7);
	put(initrd, "initrd", "cpio", 4);
	put(arguments, "arguments", "quiet sled.token=sledb_1\n", 25);
	test_load();
	test_refusals();
	test_files();
	test_jump();
	return tap_done();
}
