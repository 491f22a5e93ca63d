// SPDX-License-Identifier: Apache-2.0
// A list of what is allowed: what qemu-img, partclone, sfdisk, the decompressors and the C library use (by strace), and
// what cannot reach beyond the process. Everything else is ENOSYS, as on an older kernel, so that libraries fall back.
// Where one call can do both, its arguments decide.
#include "base/jail_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/hdreg.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define OTHER_TABLE 0x40000000u // the numbers of x32
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define OTHER_TABLE UINT32_MAX
#else
#error "the numbers of system calls of this architecture are not known"
#endif

// clang-format off
static const uint16_t allowed[] = {
	// descriptors; files are opened below
	__NR_read, __NR_write, __NR_readv, __NR_writev, __NR_pread64, __NR_pwrite64, __NR_preadv, __NR_pwritev,
	__NR_preadv2, __NR_pwritev2, __NR_close, __NR_close_range, __NR_lseek, __NR_fstat, __NR_newfstatat, __NR_statx,
	__NR_statfs, __NR_fstatfs, __NR_faccessat, __NR_faccessat2, __NR_readlinkat, __NR_getdents64, __NR_getcwd,
	__NR_dup, __NR_dup3, __NR_pipe2, __NR_flock, __NR_ftruncate, __NR_fallocate, __NR_fsync, __NR_fdatasync,
	__NR_sync_file_range, __NR_fadvise64, __NR_readahead, __NR_copy_file_range, __NR_sendfile, __NR_splice,
	__NR_ppoll, __NR_pselect6, __NR_epoll_create1, __NR_epoll_ctl, __NR_epoll_pwait, __NR_eventfd2, __NR_signalfd4,
	__NR_timerfd_create, __NR_timerfd_settime, __NR_timerfd_gettime, __NR_umask,
	// memory
	__NR_brk, __NR_mmap, __NR_munmap, __NR_mremap, __NR_mprotect, __NR_madvise, __NR_mincore, __NR_msync,
	__NR_mlock, __NR_munlock, __NR_membarrier, __NR_pkey_alloc, __NR_pkey_free, __NR_pkey_mprotect,
	// the process itself, its threads and signals
	__NR_execve, __NR_exit, __NR_exit_group, __NR_restart_syscall, __NR_set_tid_address, __NR_set_robust_list,
	__NR_rseq, __NR_futex, __NR_futex_waitv, __NR_sched_yield, __NR_sched_getaffinity, __NR_sched_getparam,
	__NR_sched_getscheduler, __NR_sched_get_priority_max, __NR_sched_get_priority_min, __NR_getcpu,
	__NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_rt_sigpending, __NR_rt_sigtimedwait,
	__NR_rt_sigsuspend, __NR_sigaltstack, __NR_wait4, __NR_waitid, __NR_getpid, __NR_getppid, __NR_gettid,
	__NR_getuid, __NR_geteuid, __NR_getgid, __NR_getegid, __NR_getresuid, __NR_getresgid, __NR_getgroups,
	__NR_getpgid, __NR_getrusage, __NR_times, __NR_sysinfo, __NR_uname, __NR_getrandom, __NR_capget,
	// time
	__NR_clock_gettime, __NR_clock_getres, __NR_clock_nanosleep, __NR_nanosleep, __NR_gettimeofday,
	__NR_setitimer, __NR_getitimer,
#if defined(__x86_64__)
	__NR_stat, __NR_lstat, __NR_access, __NR_readlink, __NR_getdents, __NR_dup2, __NR_pipe, __NR_poll, __NR_select,
	__NR_epoll_create, __NR_epoll_wait, __NR_eventfd, __NR_signalfd, __NR_arch_prctl, __NR_alarm, __NR_pause,
	__NR_time, __NR_getrlimit, __NR_getpgrp,
#endif
};

// The others are for signals to an owner, leases and notices.
static const uint32_t fcntls[] = {
	F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW, F_OFD_GETLK,
	F_OFD_SETLK, F_OFD_SETLKW, F_GETPIPE_SZ, F_SETPIPE_SZ,
};

// What is asked of a terminal, a disk and a file. Anything else of a descriptor that is neither.
static const uint32_t ioctls[] = {
	TCGETS, TIOCGWINSZ, FIONREAD, FIOCLEX, FIONCLEX, BLKGETSIZE, BLKGETSIZE64, BLKSSZGET, BLKPBSZGET, BLKBSZGET,
	BLKIOMIN, BLKIOOPT, BLKALIGNOFF, BLKROGET, BLKRAGET, BLKSECTGET, BLKDISCARDZEROES, BLKROTATIONAL, HDIO_GETGEO,
	FIGETBSZ, FS_IOC_FIEMAP, FS_IOC_GETFLAGS,
};

static const uint32_t prctls[] = {
	PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_CAPBSET_READ, PR_SET_TIMERSLACK, PR_GET_TIMERSLACK, PR_SET_VMA,
};
// clang-format on

#define ROOM (2 * ELEMENTS(allowed) + ELEMENTS(fcntls) + ELEMENTS(ioctls) + ELEMENTS(prctls) + 128)

struct program {
	unsigned short size;
	struct sock_filter code[ROOM];
};

#define WORD(member) ((uint32_t)offsetof(struct seccomp_data, member)) // the lower half: both are little-endian
#define ALLOW SECCOMP_RET_ALLOW
#define REFUSE(error) (SECCOMP_RET_ERRNO | (uint32_t)(error))

static void add(struct program *p, struct sock_filter code) { p->code[p->size++] = code; }

static void load(struct program *p, uint32_t at) { add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)); }

static void answer(struct program *p, uint32_t value) { add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, value)); }

// If what is loaded passes the test: that answer.
static void answer_if(struct program *p, uint16_t test, uint32_t k, uint32_t value) {
	add(p, (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | test | BPF_K), k, 0, 1));
	answer(p, value);
}

static void answer_if_masked(struct program *p, uint32_t at, uint32_t mask, uint32_t k, uint32_t value) {
	load(p, at);
	add(p, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
	answer_if(p, BPF_JEQ, k, value);
}

// The rules of one call. `end` sets where they end.
static unsigned short begin(struct program *p, uint32_t call) {
	load(p, WORD(nr));
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 0));
	return p->size;
}

static void end(struct program *p, unsigned short begun, uint32_t value) {
	answer(p, value);
	p->code[begun - 1].jf = (uint8_t)(p->size - begun);
}

static void allow_values(struct program *p, uint32_t call, const uint32_t *values, size_t count, int error) {
	unsigned short begun = begin(p, call);

	load(p, WORD(args[call == __NR_prctl ? 0 : 1]));
	for (size_t i = 0; i < count; i++)
		answer_if(p, BPF_JEQ, values[i], ALLOW);
	end(p, begun, REFUSE(error));
}

// A file that is only read may be truncated where Landlock is older than version 3, and one that is opened for neither
// reading nor writing is not checked by it at all.
static void allow_open(struct program *p, uint32_t call, unsigned int flags_at) {
	unsigned short begun = begin(p, call);
	uint32_t at = WORD(args[0]) + flags_at * (uint32_t)sizeof(uint64_t);

	answer_if_masked(p, at, O_ACCMODE, O_ACCMODE, REFUSE(EPERM));
	answer_if_masked(p, at, O_ACCMODE | O_TRUNC, O_RDONLY | O_TRUNC, REFUSE(EPERM));
	end(p, begun, ALLOW);
}

// Of the process itself alone: by its number, or by 0 for limits.
static void allow_self(struct program *p, uint32_t call) {
	unsigned short begun = begin(p, call);

	load(p, WORD(args[0]));
	answer_if(p, BPF_JEQ, call == __NR_prlimit64 ? 0 : (uint32_t)getpid(), ALLOW);
	if (call == __NR_prlimit64)
		answer_if(p, BPF_JEQ, (uint32_t)getpid(), ALLOW);
	end(p, begun, REFUSE(EPERM));
}

// Threads, not processes. clone3 has its flags in memory: ENOSYS.
static void allow_threads(struct program *p) {
	unsigned short begun = begin(p, __NR_clone);

	load(p, WORD(args[0]));
	answer_if(p, BPF_JSET, CLONE_THREAD, ALLOW);
	end(p, begun, REFUSE(EPERM));
}

static void write_rules(struct program *p) {
	load(p, WORD(arch));
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
	answer(p, SECCOMP_RET_KILL_PROCESS);
	load(p, WORD(nr));
	answer_if(p, BPF_JGE, OTHER_TABLE, REFUSE(ENOSYS));
	for (size_t i = 0; i < ELEMENTS(allowed); i++)
		answer_if(p, BPF_JEQ, allowed[i], ALLOW);
	allow_values(p, __NR_fcntl, fcntls, ELEMENTS(fcntls), EINVAL);
	allow_values(p, __NR_ioctl, ioctls, ELEMENTS(ioctls), ENOTTY);
	allow_values(p, __NR_prctl, prctls, ELEMENTS(prctls), EINVAL);
	allow_open(p, __NR_openat, 2);
#if defined(__x86_64__)
	allow_open(p, __NR_open, 1);
#endif
	allow_self(p, __NR_kill);
	allow_self(p, __NR_tgkill);
	allow_self(p, __NR_prlimit64);
	allow_threads(p);
	answer(p, REFUSE(ENOSYS));
}

int jail_filter(void) {
	struct program p = {0};
	struct sock_fprog filter = {.filter = p.code};

	write_rules(&p);
	filter.len = p.size;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) < 0 ? -errno : 0;
}
