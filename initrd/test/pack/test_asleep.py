# SPDX-License-Identifier: Apache-2.0
"""sledc pack of a Linux that hibernates in a file of a btrfs, or in a logical volume.

As root: test_asleep.py [NAME...]; $SLEDC. Prints TAP.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "disks"), str(HERE.parent / "c")]
import disks  # noqa: E402
from tap import run_tests  # noqa: E402

SLEDC = os.environ["SLEDC"]
MARKS = (b"S1SUSPEND", b"LINHIB0001")
work = Path(tempfile.mkdtemp())
disk = work / "disk.raw"


def swap(mark: bytes, pages: int = 4096) -> bytes:
    """A swap of 4 MiB. With pages of 64 KiB the mark is further behind."""
    page = bytearray(4 * disks.MIB)
    page[pages - 10 : pages - 10 + len(mark)] = mark
    return bytes(page)


def check(asleep: bool, where: str = "") -> None:
    words = [SLEDC, "pack", f"in={disk}", f"out={work / 'image'}", "level=1"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == (3 if asleep else 0), done.stderr
    assert not asleep or f"a system hibernates in one of its {where}" in done.stderr, done.stderr


def make_btrfs(data: bytes, head: bytes = b"") -> None:
    root = work / "root"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    (root / "swapfile").write_bytes(head + data)
    (root / "words").write_text("hello")
    disk.unlink(missing_ok=True)
    with disk.open("wb") as file:
        file.truncate(256 * disks.MIB)
    disks.run("mkfs.btrfs", "-q", "--rootdir", root, disk)


def test_file_of_a_btrfs() -> None:
    for mark in MARKS:
        make_btrfs(swap(mark))
        check(True, "files")
    make_btrfs(swap(MARKS[0], 65536))
    check(True, "files")


def test_btrfs_that_is_awake() -> None:
    make_btrfs(swap(b"SWAPSPACE2"))
    check(False)
    make_btrfs(swap(MARKS[0]), bytes(disks.MIB))  # in the midst of a file: a disk of a virtual machine
    check(False)


def make_lvm(swap_first: bool) -> int:
    """Two volumes of 8 MiB, without device mapper. Returns the byte at which the swap starts."""
    disk.unlink(missing_ok=True)
    with disk.open("wb") as file:
        file.truncate(64 * disks.MIB)
    device = subprocess.check_output(["losetup", "--find", "--show", disk], text=True, timeout=60).strip()
    try:
        config = f'devices {{ filter=["a|^{device}$|","r|.*|"] use_devicesfile=0 }} global {{ activation=0 }}'
        disks.run("pvcreate", "-qq", "--config", config, device)
        disks.run("vgcreate", "-qq", "--config", config, "sleepers", device)
        for name in ("swap", "root") if swap_first else ("root", "swap"):
            words = ["-qq", "--config", config, "-an", "-Zn", "-Wn", "-L", "8M", "-n", name, "sleepers"]
            disks.run("lvcreate", *words)
    finally:
        disks.run("losetup", "--detach", device)
    return (1 if swap_first else 9) * disks.MIB


def test_logical_volume() -> None:
    for swap_first in (True, False):
        for mark in MARKS:
            start = make_lvm(swap_first)
            check(False)
            with disk.open("r+b") as file:
                file.seek(start)
                file.write(swap(mark))
            check(True, "volumes")


def test_mark_in_the_midst_of_a_volume() -> None:
    start = make_lvm(True)
    with disk.open("r+b") as file:
        file.seek(start + 5 * disks.MIB)
        file.write(swap(MARKS[0], 4096))
    check(False)


if __name__ == "__main__":
    try:
        code = run_tests(globals())
    finally:
        shutil.rmtree(work)
    sys.exit(code)
