# SPDX-License-Identifier: Apache-2.0
"""Makes system calls by number, with what would reach another process as their arguments.

usage: reach.py PID ADDRESS NUMBER...

ADDRESS is one of that process. Prints each number before its calls.
"""

import ctypes
import signal
import sys

PTRACE_ATTACH, PTRACE_SEIZE, F_SETOWN, SCHED_BATCH, IPC_CREAT = 16, 0x4206, 8, 3, 0o1000
libc = ctypes.CDLL(None)


class Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("size", ctypes.c_size_t))


class Scheduling(ctypes.Structure):  # struct sched_attr
    _fields_ = (("size", ctypes.c_uint32), ("policy", ctypes.c_uint32), ("rest", ctypes.c_uint64 * 5))


zeros = ctypes.create_string_buffer(4096)
one = ctypes.c_uint64(1)
queued = (ctypes.c_int32 * 32)(signal.SIGTERM, 0, -1)  # siginfo_t with SI_QUEUE
scheduling = Scheduling(48, SCHED_BATCH)
changed = ctypes.create_string_buffer(b"lost")


def shapes(pid: int, address: int) -> tuple[list[tuple[int, ...]], object]:
    """The arguments, for the calls that use them so."""
    nothing, bit, info, attributes = map(ctypes.addressof, (zeros, one, queued, scheduling))
    local, remote = Vector(ctypes.addressof(changed), 4), Vector(address, 4)
    return [
        (pid, signal.SIGTERM, nothing, 0, 0),  # kill, tkill, setpgid
        (pid, signal.SIGTERM, info, 0, 0),  # rt_sigqueueinfo
        (pid, pid, signal.SIGTERM, info, 0),  # tgkill, rt_tgsigqueueinfo
        (0, pid, 19, nothing, 0),  # setpriority
        (1, pid, 3 << 13, nothing, 0),  # ioprio_set
        (pid, 0, nothing, 0, 0),  # prlimit64, of processor time
        (pid, 8, bit, 0, 0),  # sched_setaffinity
        (pid, SCHED_BATCH, nothing, 0, 0),  # sched_setscheduler
        (pid, attributes, 0, 0, 0),  # sched_setattr
        (PTRACE_ATTACH, pid, 0, 0, 0),
        (PTRACE_SEIZE, pid, 0, 0, 0),
        (pid, ctypes.addressof(local), 1, ctypes.addressof(remote), 1, 0),  # process_vm_writev
        (pid, 1, IPC_CREAT | 0o666, 0, 0),  # shmget, semget, msgget
        (0, F_SETOWN, pid, 0, 0),  # fcntl
    ], (local, remote)


def main() -> None:
    arguments, _kept = shapes(int(sys.argv[1]), int(sys.argv[2]))
    signal.signal(signal.SIGALRM, lambda *_: None)
    for number in map(int, sys.argv[3:]):
        print(number, flush=True)
        for words in arguments:
            signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)  # a call that waits is interrupted
            libc.syscall(*(ctypes.c_long(word) for word in (number, *words)))


main()
