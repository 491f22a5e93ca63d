# SPDX-License-Identifier: Apache-2.0
"""The partitions in the facts: what each disk has, and how many are reported at most. Prints TAP."""

from __future__ import annotations

import sys
import tempfile
import uuid
from pathlib import Path

import members
from machine_of_files import Machine
from members import MIB, Bytes
from program import for_tests
from tap import run_tests

SIZE = 8 * MIB
BODY_LINES, BODY_BYTES, OF_A_DISK = 256, 65536, 32  # contract/report.md


def table(*names: str) -> Bytes:
    """A GPT with partitions of 4 KiB behind a first one of 3 MiB."""
    starts = [2048, *range(8192, 8192 + 8 * len(names), 8)]
    entries = [(starts[i], starts[i + 1] - 1, name, bytes([i]) * 16) for i, name in enumerate(names)]
    return members.gpt(SIZE, *entries)


def partitions(work: str, *disks: tuple[Bytes, ...]) -> tuple[str, list[str]]:
    """The whole body, and its lines of partitions."""
    m = Machine(Path(work), for_tests())
    (m.root / "sys/class/net").mkdir()
    for i, contents in enumerate(disks):
        m.scsi(f"sd{chr(ord('a') + i)}", f"S{i}", "M", f"5000c500000000{i:02x}", *contents, size=SIZE)
    done = m.run("facts", f"root={m.root}")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("partition ")]
    listed = m.run("disks", f"root={m.root}").stdout.splitlines()
    assert [line for line in listed if line in lines] == lines, listed  # a change of them is seen
    return done.stdout, lines


def test_named_by_number_name_and_uuid() -> None:
    """A table of each kind, and what a partition holds, also if two filesystems have left their signs in it."""
    ext, journal = members.ext(b"u" * 16, b"j" * 16), members.md(b"m" * 16, 3 * MIB)
    gpt = [table("a\nroot x", ""), (MIB + ext[0], ext[1])]
    entry = bytes([0, 0, 0, 0, 0x83, 0, 0, 0]) + (2048).to_bytes(4, "little") + (6144).to_bytes(4, "little")
    mbr = (440, b"\x44\x33\x22\x11\0\0" + entry + bytes(48) + b"\x55\xaa")
    both = (MIB + ext[0], ext[1]), (MIB + journal[0], journal[1])
    with tempfile.TemporaryDirectory() as work:
        text, lines = partitions(work, tuple(gpt), (mbr, *both), (ext,))
    second = uuid.UUID(bytes_le=b"\1" * 16)
    expected = [
        f"partition disk=sda number=1 label=a%0Aroot%20x uuid={uuid.UUID(int=0)} bytes=3145728 type=ext3",
        f"partition disk=sda number=2 uuid={second} bytes=4096",
        "partition disk=sdb number=1 uuid=11223344-01 bytes=3145728 type=linux_raid_member,ext3",
    ]
    assert lines == expected and text.endswith("\n".join([*expected, ""])), text


def test_limits() -> None:
    """Disks and NICs come first; of the partitions as many as there is room for."""
    many = tuple((table(*["p"] * 40),) for _ in range(9))
    with tempfile.TemporaryDirectory() as work:
        text, lines = partitions(work, many[0])
    assert len(lines) == OF_A_DISK, len(lines)
    with tempfile.TemporaryDirectory() as work:
        text, lines = partitions(work, *many)
    assert text.count("\n") == BODY_LINES and text.splitlines()[-len(lines) :] == lines, text.count("\n")
    assert text.count("\ndisk ") == len(many), text
    long = tuple((table(*["\u00fc" * 36] * 40),) for _ in range(9))
    with tempfile.TemporaryDirectory() as work:
        text, lines = partitions(work, *long)
    assert BODY_BYTES - 512 < len(text) <= BODY_BYTES and text.count("\n") < BODY_LINES, len(text)


def test_device_of_a_partition() -> None:
    """As the kernel knows it, by what the table names it."""
    with tempfile.TemporaryDirectory() as work:
        m = Machine(Path(work), for_tests())
        m.scsi("sda", "S", "M", "5000c50000000001", table("boot", "a root"), size=SIZE)
        m.scsi("sdb", "T", "M", "5000c50000000002", table("boot"), size=SIZE)
        for name, start, size in (("sda1", 2048, 6144), ("sda7", 8192, 8)):
            folder = m.root / "sys/block/sda" / name
            (folder / "holders").mkdir(parents=True)
            (folder / "start").write_text(f"{start}\n")
            (folder / "size").write_text(f"{size}\n")
        for word, device in (("1", "/dev/sda1"), ("part-label:a%20root", "/dev/sda7")):
            done = m.run("disks", "disk=serial:S", f"partition={word}")
            assert (done.returncode, done.stdout) == (0, f"{device}\n"), done
        for words, code, text in (
            (("disk=serial:S", "partition=3"), 4, "its partitions are: 1, 2"),
            (("disk=serial:T", "partition=1"), 4, "the kernel knows no partition at byte 1048576"),
            (("disk=serial:S", "keep=serial:S", "partition=1"), 4, "keep"),
            (("partition=1",), 2, "partition= needs disk="),
            (("disk=serial:S", "partition=sda1"), 2, "is not the number of a partition"),
        ):
            done = m.run("disks", *words)
            assert done.returncode == code and text in done.stderr and not done.stdout, done


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
