# SPDX-License-Identifier: Apache-2.0
"""What a confined program can do: read its input, write its output, and nothing else. $SLED_TOOLS. Prints TAP."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tap import run_tests

TOOL = Path(os.environ["SLED_TOOLS"]) / "tool_jail"
work = Path(tempfile.mkdtemp())
source, target, secret = work / "source", work / "target", work / "secret"
PYTHON, REACH = "/usr/bin/python3", Path(__file__).with_name("reach.py")
CALLS = 600  # more than there are
NO_SUCH_CALL = os.strerror(errno.ENOSYS)  # what the filter answers, as a kernel does that lacks a call
SYS_IOPRIO_GET = {"x86_64": 252, "aarch64": 31}[platform.machine()]
REACHING = {
    "x86_64": {
        "kill": 62, "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "setpriority": 141,
        "sched_setaffinity": 203, "sched_setscheduler": 144, "sched_setattr": 314, "ioprio_set": 251, "prlimit64": 302,
        "process_vm_writev": 311,
    },
    "aarch64": {"kill": 129, "tkill": 130, "tgkill": 131, "setpriority": 140, "prlimit64": 261},
}[platform.machine()]  # fmt: skip
WAYS = ("landlock namespaces", "landlock", "namespaces")  # what the kernel has


def jail(way: str, code: str) -> subprocess.CompletedProcess[str]:
    """Runs a Python program in it."""
    source.write_text("the input")
    target.write_text("")
    secret.write_text("of somebody else")
    command = [TOOL, source, target, "python3", "-ISc", f"import os\n{code}"]
    environment = {**os.environ, "SLED_TEST_JAIL": way}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env=environment, start_new_session=True
    )


def fails(way: str, code: str, words: str) -> None:
    """It ends with that message."""
    done = jail(way, code)
    assert done.returncode and words in done.stderr, f"{way}: {code}: exit {done.returncode}: {done.stderr}"


def test_files() -> None:
    for way in WAYS:
        done = jail(way, "open('/proc/self/fd/11', 'w').write(open('/proc/self/fd/10').read())")
        assert done.returncode == 0 and target.read_text() == "the input", f"{way}: {done.stderr}"
        for path in (secret, "/etc/passwd", "/proc/1/environ", f"/proc/{os.getpid()}/fd/1", "/dev/zero"):
            fails(way, f"open('{path}').read()", "Error")
        for folder in (work, "/dev/shm", "/tmp", "/usr/lib"):
            new = Path(folder, f"{work.name}.new")  # a name that nobody else has
            done = jail(way, f"open('{new}', 'w')")
            assert done.returncode and not new.exists(), f"{way}: {folder}: {done.stderr}"
        fails(way, f"os.unlink('{secret}')", "Error")
        assert secret.exists()
        fails(way, "os.open('/usr/bin/env', os.O_RDONLY | os.O_TRUNC)", "Error")
        fails(way, "os.open('/proc/self/fd/10', os.O_RDONLY | os.O_TRUNC)", "Operation not permitted")
        fails(way, "os.open('/proc/self/fd/10', os.O_ACCMODE)", "Operation not permitted")
    for way in WAYS[:2]:
        fails(way, "open('/proc/self/fd/10', 'w')", "Error")


def test_processes_and_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        for way in WAYS:
            fails(way, f"import socket\nsocket.create_connection({server.getsockname()})", NO_SUCH_CALL)
            fails(way, f"os.kill({os.getpid()}, 0)", "Error")
            fails(way, "os.execv('/bin/sh', ['sh', '-c', 'exit 0'])", "Error")
            fails(way, "os.chmod('/proc/self/fd/10', 0o777)", NO_SUCH_CALL)


# Until its input is "stop".
UNTIL_STOPPED = """
import os, time
print("runs", flush=True)
while os.pread(10, 4, 0) != b"stop":
    time.sleep(0.05)
"""


def test_nothing_else_stays_mounted() -> None:
    """A stick that is unmounted while the program runs can be pulled."""
    if os.geteuid():
        return
    image, folder = work / "image", work / "mounted"
    folder.mkdir()
    with image.open("wb") as file:
        file.truncate(8 << 20)
    subprocess.run(["mkfs.ext4", "-q", image], check=True, timeout=60)
    loop = subprocess.run(["losetup", "-f", "--show", image], check=True, capture_output=True, text=True, timeout=60)
    device = loop.stdout.strip()
    try:
        for way in WAYS:
            subprocess.run(["mount", device, folder], check=True, timeout=60)
            source.write_text("wait")
            command = [TOOL, source, target, "python3", "-ISc", UNTIL_STOPPED]
            environment = {**os.environ, "SLED_TEST_JAIL": way}
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as program:
                assert program.stdout and program.stdout.readline() == "runs\n", way
                subprocess.run(["umount", folder], check=True, timeout=60)
                try:
                    os.close(os.open(device, os.O_RDONLY | os.O_EXCL))
                except OSError as fault:
                    raise AssertionError(f"{way}: {fault}") from fault
                finally:
                    source.write_text("stop")
                    assert program.wait(60) == 0, way
    finally:
        subprocess.run(["losetup", "-d", device], check=True, timeout=60)


def test_capabilities() -> None:
    show = "import ctypes\nprint([i for i in range(41) if ctypes.CDLL(None).prctl(23, i, 0, 0, 0) == 1])"
    for way in WAYS:
        done = jail(way, show)
        assert os.geteuid() or done.stdout == "[2]\n", f"{way}: {done.stdout}{done.stderr}"


def test_environment() -> None:
    for way in WAYS:
        done = jail(way, "print(sorted(os.environ))")
        assert done.stdout == "['LC_ALL', 'PATH']\n", f"{way}: {done.stdout}{done.stderr}"


def test_limits() -> None:
    for way in WAYS:
        fails(way, "bytes(1 << 30)", "MemoryError")
        fails(way, "while True: pass", "python3 used more processor time than it may")
        fails(way, "open('/proc/self/fd/11', 'w').truncate(2 << 20)", "")
        assert target.stat().st_size <= 1 << 20


class Victim:
    """Another process of this user, and all of it that a call could change."""

    def __init__(self) -> None:
        code = "import ctypes, time\nw = ctypes.create_string_buffer(b'kept')\nprint(ctypes.addressof(w), flush=True)\n"
        self.process = subprocess.Popen(
            [PYTHON, "-ISc", f"{code}time.sleep(600)"], stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        assert self.process.stdout
        self.pid, self.address = self.process.pid, int(self.process.stdout.readline())
        while self.state()[0] != "S":
            time.sleep(0.01)

    def state(self) -> list[str]:
        try:
            return self.look()
        except (ProcessLookupError, FileNotFoundError):
            return ["dead"]

    def look(self) -> list[str]:
        folder = Path(f"/proc/{self.pid}")
        fields = (folder / "stat").read_text().rsplit(")")[1].split()
        if fields[0] in "ZX":
            return ["dead"]
        status = [
            line for line in (folder / "status").read_text().splitlines() if re.match("TracerPid|S.*Pnd|Cpus", line)
        ]
        with (folder / "mem").open("rb") as memory:
            memory.seek(self.address)
            word = memory.read(4).decode()
        priority = ctypes.CDLL(None).syscall(SYS_IOPRIO_GET, 1, self.pid)
        shared = [kind for kind in ("shm", "sem", "msg") if self.is_key(Path("/proc/sysvipc", kind))]
        limits = (folder / "limits").read_text()
        return [fields[0], *fields[2:4], *fields[15:17], *fields[37:39], *status, word, str(priority), limits, *shared]

    def is_key(self, table: Path) -> bool:
        return any(line.split()[0] == str(self.pid) for line in table.read_text().splitlines())

    def __enter__(self) -> Victim:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


def changes(number: int) -> bool:
    """Calls it without a jail."""
    with Victim() as victim:
        before = victim.state()
        words = [str(word) for word in (victim.pid, victim.address, number)]
        command = [PYTHON, "-IS", REACH, *words]
        subprocess.run(command, capture_output=True, check=False, timeout=60, start_new_session=True)
        return before != victim.state()


def test_every_call() -> None:
    """By number, with another process as its object: that process and all that is shared stay the same."""
    for way in WAYS:
        with Victim() as victim:
            before, left = victim.state(), list(range(CALLS))
            while left:
                code = f"import sys\nsys.argv[1:] = {[str(n) for n in (victim.pid, victim.address, *left)]}\n"
                done = jail(way, f"{code}exec(compile({REACH.read_text()!r}, 'reach', 'exec'))")
                last = int(done.stdout.split()[-1])  # it may have ended the program
                left = left[left.index(last) + 1 :]
                assert victim.state() == before, f"{way}: up to call {last}: {victim.state()}, was {before}"


def test_calls_would_reach() -> None:
    """Without a jail each of these changes the other process."""
    missed = [name for name, number in REACHING.items() if not changes(number)]
    assert not missed, missed


def test_without_either() -> None:
    done = jail("none", "print('ran')")
    assert done.returncode == 3 and "neither Landlock" in done.stderr and not done.stdout, done.stderr


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
