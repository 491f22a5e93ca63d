# SPDX-License-Identifier: Apache-2.0
"""sledc pack of a file that somebody else may write to. As root; $SLEDC. Prints TAP."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "disks"), str(HERE.parent / "c")]
import disks  # noqa: E402
from tap import run_tests  # noqa: E402

SLEDC = os.environ["SLEDC"]
SIZE = 160 * disks.MIB
QEMU = ["qemu-system-x86_64", "-S", "-m", "16", "-nodefaults", "-display", "none", "-monitor", "stdio"]
work = Path(tempfile.mkdtemp())
disk = work / "disk.raw"


def pack(code: int = 0, words: str = "") -> None:
    """One run, and what it prints."""
    command = [SLEDC, "pack", f"in={disk}", f"out={work / 'image'}", "level=1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == code and words in done.stderr, f"exit {done.returncode}: {done.stderr}"
    assert code == 0 or "in use" in done.stderr, done.stderr


def test_loop() -> None:
    with disks.loop(disk) as device:
        pack()
        with disks.mounted("btrfs", device) as root:
            pack(4, f"is mounted at {root}")
    pack()


def test_below_another_device() -> None:
    if subprocess.run(["dmsetup", "version"], capture_output=True, check=False).returncode:
        print("# this kernel has no device mapper")
        return
    with disks.loop(disk) as device:
        disks.run("dmsetup", "create", "sled-test", "--table", f"0 {SIZE // 512} linear {device} 0")
        try:
            pack(4, "held by dm-")
        finally:
            disks.run("dmsetup", "remove", "--retry", "sled-test")


def test_virtual_machine() -> None:
    command = [*QEMU, "-drive", f"file={disk},format=raw,if=virtio"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as machine:
        assert machine.stdin
        deadline = time.monotonic() + 60
        while f":{disk.stat().st_ino} 100 101" not in Path("/proc/locks").read_text(encoding="utf-8"):
            assert time.monotonic() < deadline, "QEMU does not lock its disk"
            time.sleep(0.05)
        pack(4, f"qemu-system-x86 (process {machine.pid})")
        print("quit", file=machine.stdin, flush=True)
    pack()


if __name__ == "__main__":
    disks.make_content("btrfs", disk, SIZE)
    try:
        code = run_tests(globals())
    finally:
        shutil.rmtree(work)
    sys.exit(code)
