# SPDX-License-Identifier: Apache-2.0
"""What a confined program can do: read its input, write its output, and nothing else. $SLED_TOOLS. Prints TAP."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from tap import run_tests

TOOL = Path(os.environ["SLED_TOOLS"]) / "tool_jail"
work = Path(tempfile.mkdtemp())
source, target, secret = work / "source", work / "target", work / "secret"
WAYS = ("landlock", "namespaces")


def jail(way: str, code: str) -> subprocess.CompletedProcess[str]:
    """Runs a Python program in it."""
    source.write_text("the input")
    target.write_text("")
    secret.write_text("of somebody else")
    command = [TOOL, source, target, "python3", "-ISc", f"import os\n{code}"]
    environment = {**os.environ, "SLED_TEST_JAIL": way}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)


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
    fails("landlock", "open('/proc/self/fd/10', 'w')", "Error")


def test_processes_and_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        for way in WAYS:
            fails(way, f"import socket\nsocket.create_connection({server.getsockname()})", "Operation not permitted")
            fails(way, f"os.kill({os.getpid()}, 0)", "Error")
            fails(way, "os.execv('/bin/sh', ['sh', '-c', 'exit 0'])", "Error")
            fails(way, "os.chmod('/proc/self/fd/10', 0o777)", "Operation not permitted")


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


def test_without_either() -> None:
    done = jail("none", "print('ran')")
    assert done.returncode == 3 and "neither Landlock" in done.stderr and not done.stdout, done.stderr


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
