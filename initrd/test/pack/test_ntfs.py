# SPDX-License-Identifier: Apache-2.0
"""The log of an NTFS, as Windows leaves it: if it is open, the bitmap on the disk may lack clusters that hold files.

ntfs-3g.probe is asked the same. $SLEDC. Prints TAP.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "c"))
from tap import run_tests

SLEDC = os.environ["SLEDC"]
PAGE = 4096
NOBODY, CLEAN = 0xFFFF, 2  # no client has it open; the volume is clean
work = Path(tempfile.mkdtemp())
fresh, disk = work / "fresh", work / "disk"


def log_of(volume: bytes) -> int:
    """The byte at which the log starts: the first run of the data of the third record."""
    cluster = struct.unpack_from("<H", volume, 11)[0] * volume[13]
    record = struct.unpack_from("<Q", volume, 48)[0] * cluster + 2 * 1024
    at = record + struct.unpack_from("<H", volume, record + 20)[0]
    while struct.unpack_from("<I", volume, at)[0] != 0x80:
        at += struct.unpack_from("<I", volume, at + 4)[0]
    run = at + struct.unpack_from("<H", volume, at + 32)[0]
    counted, moved = volume[run] & 15, volume[run] >> 4
    return int.from_bytes(volume[run + 1 + counted : run + 1 + counted + moved], "little") * cluster


def restart(lsn: int, client: int, flags: int, magic: bytes = b"RSTR") -> bytes:
    """A restart page (version 1.1) with one client."""
    page = bytearray(PAGE)
    struct.pack_into("<4sHHQIIHhHHH", page, 0, magic, 30, 9, 0, PAGE, PAGE, 48, 1, 1, 1, 0)
    area = struct.pack("<QHHHHIHH", lsn, 1, NOBODY, client, flags, 45, 64 + 160, 64)
    page[48 : 48 + len(area)] = area
    struct.pack_into("<QIHH", page, 48 + len(area), 2 << 20, 0, 48, 64)  # size of the log, and of a record's head
    struct.pack_into("<QQHHH6xI8s", page, 48 + 64, lsn, lsn, NOBODY, NOBODY, 1, 8, "NTFS".encode("utf-16le"))
    for i in range(PAGE // 512):  # the last two bytes of each sector are kept at its start
        page[32 + 2 * i : 34 + 2 * i] = page[512 * i + 510 : 512 * i + 512]
        page[512 * i + 510 : 512 * i + 512] = b"\1\0"
    return bytes(page)


def check(first: bytes, second: bytes, code: int, words: str = "", unclean: bool | None = None) -> None:
    """What pack makes of a volume with these two pages, and what ntfs-3g makes of it."""
    shutil.copyfile(fresh, disk)
    at = log_of(fresh.read_bytes())
    with disk.open("r+b") as file:
        file.seek(at)
        file.write(first + second)
    if unclean is not None:
        probe = subprocess.run(["ntfs-3g.probe", "--readwrite", disk], check=False, capture_output=True)
        assert (probe.returncode != 0) == unclean, f"ntfs-3g.probe: {probe.returncode} {probe.stderr.decode()}"
    command = [SLEDC, "pack", f"in={disk}", f"out={work / 'image'}", "level=1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == code and words in done.stderr, f"exit {done.returncode}: {done.stderr}"
    assert words or "is kept" not in done.stderr, done.stderr


EMPTY = b"\xff" * PAGE


def test_empty() -> None:
    """As mkfs.ntfs and ntfs-3g leave it."""
    check(EMPTY, EMPTY, 0, unclean=False)


def test_closed() -> None:
    check(restart(100, NOBODY, 0), restart(90, NOBODY, 0), 0, unclean=False)
    check(restart(100, 0, CLEAN), restart(90, 0, 0), 0, unclean=False)
    check(restart(90, 0, 0), restart(100, NOBODY, CLEAN), 0, unclean=False)
    check(restart(100, NOBODY, 0, b"CHKD"), restart(90, NOBODY, 0, b"CHKD"), 0, unclean=False)


def test_open() -> None:
    words = "it was not shut down cleanly: start Windows and shut it down"
    check(restart(100, 0, 0), restart(90, NOBODY, CLEAN), 3, words, unclean=True)
    check(restart(90, NOBODY, CLEAN), restart(100, 0, 0), 3, words, unclean=True)
    check(restart(100, 0, 0), EMPTY, 3, words)


def test_damaged() -> None:
    check(b"nothing".ljust(PAGE), b"known".ljust(PAGE), 0, "all of it is kept: its log is damaged")


def sleeping(content: bytes, code: int, words: str = "", others: int = 0, name: str = "hiberfil.sys") -> None:
    """What pack makes of a volume whose root has this file, among others."""
    shutil.copyfile(fresh, disk)
    file = work / "file"
    for i in range(others):
        file.write_bytes(b"x")
        subprocess.run(
            ["ntfscp", "-f", disk, file, f"another file of the root {i:03}.txt"], check=True, capture_output=True
        )
    file.write_bytes(content)
    subprocess.run(["ntfscp", "-f", disk, file, name], check=True, capture_output=True)
    command = [SLEDC, "pack", f"in={disk}", f"out={work / 'image'}", "level=1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == code and words in done.stderr, f"exit {done.returncode}: {done.stderr}"


def test_hibernated() -> None:
    """Fast startup: volume and log are clean, and the memory of the machine is in a file."""
    rest = bytes(4092) + b"\xa5" * (1 << 20)
    for mark in (b"HIBR", b"hibr"):
        sleeping(mark + rest, 3, "Windows hibernates in it")
    sleeping(b"HIBR" + rest, 3, "Windows hibernates in it", others=90)  # its index has blocks
    sleeping(b"HIBR" + rest, 3, "Windows hibernates in it", name="HiberFil.SYS")
    sleeping(b"HIBR", 3, "Windows hibernates in it")  # too short for a header: what ntfs-3g refuses too
    sleeping(b"\0\0\0\0" + rest, 0)
    sleeping(b"WAKE" + rest, 0, others=90)
    sleeping(b"HIBR" + rest, 0, name="hiberfil.txt")


if __name__ == "__main__":
    with fresh.open("wb") as new:
        new.truncate(64 << 20)
    subprocess.run(["mkfs.ntfs", "-q", "-F", "-f", fresh], check=True, capture_output=True)
    try:
        code = run_tests(globals())
    finally:
        shutil.rmtree(work)
    sys.exit(code)
