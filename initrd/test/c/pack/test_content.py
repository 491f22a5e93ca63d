# SPDX-License-Identifier: Apache-2.0
"""sledc content: what is in a partition. Prints TAP. $SLEDC is the build for tests."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import members
from tap import run_tests

SLEDC = os.environ["SLEDC"]
SIZE = 128 * members.MIB
work = Path(tempfile.mkdtemp())


def told() -> tuple[int, str]:
    """Of the partition: exit code, and what was printed."""
    said = subprocess.run([SLEDC, "content", f"device={work}/partition"], capture_output=True, text=True, check=False)
    return said.returncode, said.stdout + said.stderr


def put(*places: members.Bytes, make: str = "") -> None:
    """A partition that the words `make` a filesystem in, with these bytes over it."""
    path = work / "partition"
    path.write_bytes(b"")
    with path.open("r+b") as file:
        file.truncate(SIZE)
        if make:
            subprocess.run([*make.split(), path], check=True, capture_output=True)
        for at, data in places:
            file.seek(at)
            file.write(data)


def test_a_physical_volume() -> None:
    put(members.lvm("Abcdef-0123-4567-89ab-cdef-0123-456789", 1, SIZE))
    assert told() == (0, "LVM2_member\n"), told()


def test_filesystems() -> None:
    for kind, make in {"ext4": "mke2fs -q -F -t ext4", "btrfs": "mkfs.btrfs -q -f -M", "vfat": "mkfs.vfat"}.items():
        put(make=make)
        assert told() == (0, f"{kind}\n"), told()


def test_nothing_and_too_much() -> None:
    put()
    code, said = told()
    assert code == 3 and "has no signature" in said, said
    put(members.btrfs(bytes(range(16)), 1), make="mke2fs -q -F -t ext4")
    code, said = told()
    assert code == 3 and "signatures of several contents" in said, said


def test_faults_name_the_device() -> None:
    said = subprocess.run([SLEDC, "content", f"device={work}/missing"], capture_output=True, text=True, check=False)
    assert said.returncode == 1 and f"content: {work}/missing: No such file" in said.stderr, said
    assert subprocess.run([SLEDC, "content"], capture_output=True, check=False).returncode == 2


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
