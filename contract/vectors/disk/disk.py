# SPDX-License-Identifier: Apache-2.0
"""A disk in memory, with the ranges of it that an image must have."""

from __future__ import annotations

import struct

KIB, MIB, GRANULE = 1 << 10, 1 << 20, 4096
HEAD = (0, MIB)  # boot code, and what it loads
UUID = "5ed00000-0000-4000-8000-000000000001"


class Disk:
    """The bytes of a disk, and the ranges of it that are used."""

    def __init__(self, mib: int, sector: int = 512) -> None:
        self.data = bytearray(mib * MIB)
        self.sector = sector
        self.used: set[int] = set()
        self.asked = "-"

    def put(self, at: int, data: bytes) -> None:
        """Bytes as they are."""
        self.data[at : at + len(data)] = data

    def fill(self, start: int, end: int, word: bytes = b"something ") -> None:
        """Content that is not zero and compresses well."""
        self.put(start, (word * ((end - start) // len(word) + 1))[: end - start])

    def keep(self, *ranges: tuple[int, int]) -> Disk:
        """Bytes that are used, from start to end."""
        for start, end in ranges:
            self.used |= set(range(start // GRANULE, (end + GRANULE - 1) // GRANULE))
        return self

    def runs(self) -> str:
        """The used granules, as the manifest has them."""
        found: list[list[int]] = []
        for i in sorted(self.used):
            if found and found[-1][1] == i - 1:
                found[-1][1] = i
            else:
                found.append([i, i])
        return ",".join(f"{first}-{last}" for first, last in found)


def swap(size: int, version: int = 1) -> bytes:
    """The first page of a swap of that size."""
    page = bytearray(GRANULE)
    struct.pack_into("<III", page, 1024, version, size // GRANULE - 1, 0)
    page[1036:1052] = bytes.fromhex(UUID.replace("-", ""))
    page[-10:] = b"SWAPSPACE2"
    return bytes(page)


def put_swap(disk: Disk, start: int, size: int) -> tuple[int, int]:
    """A swap over junk, of which only the header counts. The used range; its last granule is used as well."""
    disk.fill(start, start + size, b"swapped out ")
    disk.put(start, swap(size))
    disk.keep((start, start + GRANULE), (start + size - GRANULE, start + size))
    return start, start + GRANULE
