// SPDX-License-Identifier: Apache-2.0
// A list of what is refused, not of what is allowed: files are the duty of Landlock, and libraries use new system calls
// in every version. Listed is what reaches beyond files: the network, other processes, mounts, modules, owners and
// modes.
#include "base/jail_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

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
static const uint16_t refused[] = {
	__NR_socket, __NR_socketpair, __NR_connect, __NR_bind, __NR_sendmsg, __NR_sendto,
	__NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, __NR_pidfd_open, __NR_pidfd_getfd, __NR_kcmp,
	__NR_kill, __NR_rt_sigqueueinfo, __NR_pidfd_send_signal, __NR_setpriority, __NR_sched_setscheduler,
	__NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, __NR_unshare, __NR_setns, __NR_fsopen, __NR_open_tree,
	__NR_move_mount, __NR_mount_setattr, __NR_open_by_handle_at, __NR_name_to_handle_at, __NR_quotactl,
	__NR_swapon, __NR_swapoff, __NR_reboot, __NR_init_module, __NR_finit_module, __NR_delete_module,
	__NR_kexec_load, __NR_bpf, __NR_perf_event_open, __NR_userfaultfd, __NR_io_uring_setup, __NR_fanotify_init,
	__NR_add_key, __NR_request_key, __NR_keyctl, __NR_acct, __NR_syslog, __NR_personality,
	__NR_settimeofday, __NR_clock_settime, __NR_adjtimex, __NR_clock_adjtime, __NR_sethostname,
	__NR_fchmod, __NR_fchmodat, __NR_fchown, __NR_fchownat, __NR_setxattr, __NR_lsetxattr, __NR_fsetxattr,
	__NR_removexattr, __NR_lremovexattr, __NR_fremovexattr, __NR_utimensat, __NR_mknodat, __NR_symlinkat,
#if defined(__x86_64__)
	__NR_chmod, __NR_chown, __NR_lchown, __NR_utime, __NR_utimes, __NR_futimesat, __NR_mknod, __NR_iopl,
	__NR_ioperm, __NR_modify_ldt, __NR_kexec_file_load,
#endif
};
// clang-format on

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field))
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, (value))
#define HEAD 5u

int jail_filter(void) {
	struct sock_filter code[HEAD + ELEMENTS(refused) + 2] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
		ANSWER(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_TABLE, ELEMENTS(refused) + 1, 0),
	};
	struct sock_fprog program = {.len = (unsigned short)ELEMENTS(code), .filter = code};
	size_t end = HEAD + ELEMENTS(refused);

	for (size_t i = 0; i < ELEMENTS(refused); i++)
		code[HEAD + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[i],
							      (uint8_t)(end - HEAD - i), 0);
	code[end] = (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW);
	code[end + 1] = (struct sock_filter)ANSWER(SECCOMP_RET_ERRNO | EPERM);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? -errno : 0;
}
