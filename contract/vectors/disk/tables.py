# SPDX-License-Identifier: Apache-2.0
"""Partition tables of any form, right or odd, written into the bytes of a disk with sectors of 512 bytes."""

from __future__ import annotations

import struct
import uuid
import zlib
from collections.abc import Sequence

Entry = tuple[int, int, int, int]  # flag, type, first sector, sectors
LINUX = "0FC63DAF-8483-4772-8E79-3D69D8477DE4"


def table(entries: Sequence[Entry | None]) -> bytes:
    """The end of a sector with a table of four."""
    rows = [
        struct.pack("<B3xB3xII", flag, kind, start, count)
        for flag, kind, start, count in (e or (0,) * 4 for e in entries)
    ]
    return b"".join(rows).ljust(64, b"\0") + b"\x55\xaa"


def mbr(disk: bytearray, entries: Sequence[Entry | None]) -> None:
    """A table in the first sector."""
    disk[446:512] = table(entries)


def ebr(disk: bytearray, sector: int, entries: Sequence[Entry | None]) -> None:
    """One link of a chain of logical partitions."""
    disk[sector * 512 + 446 : sector * 512 + 512] = table(entries)


def gpt(disk: bytearray, partitions: list[tuple[int, int, str | None]], more: Sequence[Entry] = ()) -> None:
    """A GPT with its copy: first and last sector and type of each partition; `more` are added to the MBR."""
    sectors = len(disk) // 512
    mbr(disk, [(0, 0xEE, 1, sectors - 1), *more])
    rows = bytearray(128 * 128)
    for i, (first, last, kind) in enumerate(partitions):
        row = uuid.UUID(kind or LINUX).bytes_le + uuid.UUID(int=i + 1).bytes_le + struct.pack("<QQ", first, last)
        rows[i * 128 : i * 128 + len(row)] = row
    for own, other, at in ((1, sectors - 1, 2), (sectors - 1, 1, sectors - 33)):
        fields = (b"EFI PART", 0x10000, 92, 0, 0, own, other, 34, sectors - 34, uuid.UUID(int=99).bytes_le)
        head = struct.pack("<8sIIIIQQQQ16s", *fields) + struct.pack("<QIII", at, 128, 128, zlib.crc32(rows))
        head = head[:16] + struct.pack("<I", zlib.crc32(head)) + head[20:]
        disk[own * 512 : own * 512 + len(head)] = head
        disk[at * 512 : at * 512 + len(rows)] = rows
