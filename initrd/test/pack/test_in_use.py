# SPDX-License-Identifier: Apache-2.0
"""sledc pack and write of a file that somebody else uses. As root; $SLEDC. Prints TAP."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Iterator
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


def pack(code: int = 0, words: str = "", source: str | Path = disk) -> None:
    """One run, and what it prints."""
    command = [SLEDC, "pack", f"in={source}", f"out={work / 'image'}", "level=1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == code and words in done.stderr, f"exit {done.returncode}: {done.stderr}"
    assert code == 0 or "in use" in done.stderr, done.stderr


def write(words: str) -> None:
    """A write of the last image onto the disk, which is refused with nothing changed."""
    before = disk.read_bytes()
    key = work / "image.key"
    if not key.exists():
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True)
        subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", work / "image.pub"], check=True)
    sign = [SLEDC, "sign", f"in={work / 'image'}", "name=disk", f"key={key}"]
    shown = subprocess.run(sign, capture_output=True, text=True, check=True).stdout
    operands = shown.split("operands ")[1].split()
    operands.append("digest=" + urllib.parse.unquote(shown).split("digest=")[1].split()[0])
    command = [SLEDC, "write", f"file={disk}", f"image=file://{work / 'image'}", f"keys={work / 'image.pub'}"]
    done = subprocess.run([*command, *operands], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 4 and "in use" in done.stderr and words in done.stderr, done
    assert disk.read_bytes() == before


@contextlib.contextmanager
def machine(drive: str | Path) -> Iterator[str]:
    """A virtual machine with that disk; its name in a message."""
    command = [*QEMU, "-drive", f"file={drive},format=raw,if=virtio"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        assert process.stdin
        deadline = time.monotonic() + 60
        while f":{Path(drive).stat().st_ino} 100 101" not in Path("/proc/locks").read_text(encoding="utf-8"):
            assert time.monotonic() < deadline, "QEMU does not lock its disk"
            time.sleep(0.05)
        try:
            yield f"qemu-system-x86 (process {process.pid})"
        finally:
            print("quit", file=process.stdin, flush=True)


def test_loop() -> None:
    with disks.loop(disk) as device:
        pack()
        pack(source=device)
        write(f"it has the loop device {Path(device).name}")
        with disks.mounted("btrfs", device) as root:
            write(f"is mounted at {root}")
            pack(4, f"is mounted at {root}")
            pack(4, f"{Path(device).name} is mounted at {root}", device)
    pack()


def test_second_loop() -> None:
    """A loop device of which another one uses the file."""
    with disks.loop(disk) as device, disks.loop(disk) as other:
        pack(source=other)
        with disks.mounted("btrfs", device) as root:
            pack(4, f"its loop device {Path(device).name} is mounted at {root}", other)


def test_virtual_machine() -> None:
    with machine(disk) as name:
        pack(4, name)
        write(name)
        with disks.loop(disk) as device:
            pack(4, name, device)
    pack()


def test_virtual_machine_on_a_device() -> None:
    with disks.loop(disk) as device:
        with machine(device) as name:
            pack(4, name, device)
        pack(source=device)


def test_another_program() -> None:
    """That has it open and locks nothing."""
    with disk.open("rb"):
        pack()
        write(f"(process {os.getpid()}) has it open")
    with disk.open("r+b"):
        pack(4, f"(process {os.getpid()}) has it open for writing")


def test_a_file_that_changes() -> None:
    """By a program that locks nothing, while it is read."""
    source = work / "growing"
    disks.junk(source, 24 * disks.MIB, 1)
    command = [SLEDC, "pack", f"in={source}", f"out={work / 'image'}", "level=19", "sector=512"]
    for change in (lambda file: file.write(b"x"), lambda file: file.truncate(25 * disks.MIB)):
        (work / "image").unlink(missing_ok=True)
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout and process.stderr
            process.stdout.readline()  # it is under way
            with source.open("r+b") as file:
                change(file)
            process.stdout.read()
            errors = process.stderr.read()
        assert process.returncode == 4 and "another program has written to it" in errors, errors
        assert not (work / "image").exists()


if __name__ == "__main__":
    disks.make_content("btrfs", disk, SIZE)
    try:
        code = run_tests(globals())
    finally:
        shutil.rmtree(work)
    sys.exit(code)
