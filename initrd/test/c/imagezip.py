# SPDX-License-Identifier: Apache-2.0
"""Writes files of imagezip (.ndz), by Emulab's imagehdr.h."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

CHUNK, HEADER, SECTOR, MAGIC = 1 << 20, 4096, 512, 0x69696969
ID = bytes(range(16))
Region = tuple[int, int]  # first sector, sectors


@dataclass
class Chunk:
    """What stands in one chunk. `first` and `last`: the sectors that it describes."""

    index: int
    regions: list[Region]
    content: bytes
    first: int
    last: int
    total: int = 0
    relocations: bytes = b""
    cipher: int = 0
    signature: int = 0

    def head(self, version: int, stream: int) -> bytes:
        """Without the padding."""
        number = "Q" if version == 5 else "I"
        head = struct.pack("<IIiiii", MAGIC + version - 1, stream, self.index, self.total, HEADER, len(self.regions))
        if version >= 2:
            bounds = (0, 0) if version == 5 else (self.first, self.last)
            head += struct.pack("<III", *bounds, len(self.relocations) // 16)
        if version == 4:
            head += struct.pack("<HH", self.cipher, self.signature) + bytes(32 + 256) + ID
        if version == 5:
            head += bytes(4) + struct.pack("<QQ", self.first, self.last) + ID
        return head + b"".join(struct.pack(f"<{number}{number}", *region) for region in self.regions) + self.relocations

    def pack(self, version: int) -> bytes:
        """All of it, without the padding at its end."""
        stream = zlib.compress(self.content, 4)
        return self.head(version, len(stream)).ljust(HEADER, b"\0") + stream


def plan(disk: bytes, used: list[Region], each: int) -> list[Chunk]:
    """Chunks with at most `each` sectors, in order. The first also describes what is before it, the last all else."""
    chunks: list[Chunk] = []
    regions: list[Region] = []
    room = each

    def close(last: int) -> None:
        nonlocal room
        content = b"".join(disk[at * SECTOR : (at + count) * SECTOR] for at, count in regions)
        first = chunks[-1].last if chunks else 0
        chunks.append(Chunk(len(chunks), list(regions), content, first, last))
        regions.clear()
        room = each

    for start, size in used:
        at, end = start, start + size
        while at < end:
            count = min(end - at, room)
            regions.append((at, count))
            at, room = at + count, room - count
            if room == 0:
                close(at)
    if regions:
        close(len(disk) // SECTOR)
    chunks[-1].last = len(disk) // SECTOR
    return chunks


def image(chunks: list[Chunk], version: int) -> bytes:
    """The file."""
    for chunk in chunks:
        chunk.total = len(chunks) if version == 1 else 0
    return b"".join(chunk.pack(version).ljust(CHUNK, b"\0") for chunk in chunks)
