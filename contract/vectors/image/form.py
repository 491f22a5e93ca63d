# SPDX-License-Identifier: Apache-2.0
"""Images as ../../image.md has them: frames, index, trailer and seek table."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

import zstandard
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

CHUNK, GRANULE, GAP, RUN = 1 << 20, 4096, 64 << 20, 128 << 10
HEAD, PARTITION, ENTRY = 40, 40, 84  # bytes of the index's parts
MIB = 1 << 20


def skippable(magic: int, payload: bytes) -> bytes:
    """A skippable frame."""
    return struct.pack("<II", magic, len(payload)) + payload


def gap_frame(size: int, window: int = 0x38) -> bytes:
    """Zeros, as the format wants them; with another window, as it does not."""
    blocks = b""
    for at in range(0, size, RUN):
        run = min(RUN, size - at)
        blocks += (run << 3 | 1 << 1 | (at + run == size)).to_bytes(3, "little") + b"\0"
    return b"\x28\xb5\x2f\xfd\x80" + bytes([window]) + struct.pack("<I", size) + blocks


def reheaded(frame: bytes, descriptor: int, rest: bytes) -> bytes:
    """A data frame of a few KiB or more with another header: a single segment has no other start than this."""
    head = 6 + {0: 0, 1: 1, 2: 3, 3: 7}[frame[4] >> 6]  # a single segment: no window, at least one byte of size
    if not frame[4] & 0x20:
        raise ValueError("not a single segment")
    return frame[:4] + bytes([descriptor]) + rest + frame[head:]


def windowed(window: int) -> Callable[[bytes], bytes]:
    """The frame of a chunk with that window instead of a single segment."""
    return lambda data: reheaded(compress(data), 0x84, bytes([window]) + struct.pack("<I", len(data)))


def compress(data: bytes, checksum: bool = True, size: bool = True) -> bytes:
    """A data frame."""
    return zstandard.ZstdCompressor(level=19, write_checksum=checksum, write_content_size=size).compress(data)


@dataclass
class Chunk:
    """A chunk whose used granules each repeat their place on the disk."""

    offset: int
    granules: list[int]
    frame: bytes = b""
    data: bytes = b""
    hash: bytes = b""

    def fill(self, disk_bytes: int) -> None:
        """Makes data, hash and frame of it."""
        data = bytearray(min(CHUNK, disk_bytes - self.offset))
        used = b""
        for i in self.granules:
            content = struct.pack("<Q", self.offset + i * GRANULE + 1) * (GRANULE // 8)
            content = content[: max(0, len(data) - i * GRANULE)]
            data[i * GRANULE : i * GRANULE + len(content)] = content
            used += content
        self.data, self.hash = bytes(data), hashlib.sha256(used).digest()
        self.frame = self.frame or compress(self.data)

    def bitmap(self) -> bytes:
        """Bit i: granule i."""
        return sum(1 << i for i in self.granules).to_bytes(32, "little")

    def used(self) -> int:
        """Bytes in used granules."""
        return sum(min(GRANULE, len(self.data) - i * GRANULE) for i in self.granules)


@dataclass
class Disk:
    """What an image is made of."""

    size: int
    chunks: list[Chunk]
    sector: int = 512
    partitions: list[tuple[int, int, int, bytes]] = field(default_factory=list)
    magic: bytes = b"sled-img"

    def raw_hash(self) -> str:
        """SHA-256 of the raw disk."""
        total, end = hashlib.sha256(), 0
        for chunk in self.chunks:
            total.update(bytes(chunk.offset - end) + chunk.data)
            end = chunk.offset + len(chunk.data)
        total.update(bytes(self.size - end))
        return total.hexdigest()


@dataclass
class Parts:
    """An image before its trailer: frames with the disk bytes they stand for, and the index."""

    frames: list[tuple[bytes, int]]
    index: bytearray
    table_edit: Callable[[bytes], bytes] = bytes

    def body(self) -> bytes:
        """Every frame before the index."""
        return b"".join(frame for frame, _ in self.frames)

    def seal(self, **changed: int | bytes) -> bytes:
        """The whole file, right for what the index has now; `changed` fields of the trailer are not."""
        body, index = self.body(), skippable(0x184D2A5A, bytes(self.index))
        digest = hashlib.sha256(self.index).digest()
        trailer: dict[str, int | bytes] = {
            "magic": b"sled-end",
            "version": 1,
            "zero": 0,
            "at": len(body) + 8,
            "size": len(self.index),
            "digest": digest,
            "unused": b"",
        }
        packed = skippable(0x184D2A5B, struct.pack("<8sIIQQ32s72s", *(trailer | changed).values()))
        sizes = [(len(frame), size) for frame, size in self.frames] + [(len(index), 0), (len(packed), 0)]
        table = (
            b"".join(struct.pack("<II", *pair) for pair in sizes)
            + struct.pack("<IB", len(sizes), 0)
            + b"\xb1\xea\x92\x8f"
        )
        return body + index + packed + self.table_edit(skippable(0x184D2A5E, table))


def gaps(size: int) -> list[tuple[bytes, int]]:
    """Gap frames, full ones first."""
    sizes = [min(GAP, size - at) for at in range(0, size, GAP)]
    return [(gap_frame(n), n) for n in sizes]


def parts_of(disk: Disk) -> Parts:
    """Frames and index of a disk."""
    frames: list[tuple[bytes, int]] = []
    entries, at, end = b"", 0, 0
    for chunk in disk.chunks:
        if not chunk.data:
            chunk.fill(disk.size)
        frames += gaps(chunk.offset - end)
        at = sum(len(frame) for frame, _ in frames)
        entries += struct.pack("<QQI32s32s", chunk.offset, at, len(chunk.frame), chunk.bitmap(), chunk.hash)
        frames.append((chunk.frame, len(chunk.data)))
        end = chunk.offset + len(chunk.data)
    frames += gaps(disk.size - end)
    used = sum(chunk.used() for chunk in disk.chunks)
    head = struct.pack("<8sIIQQII", disk.magic, 1, disk.sector, disk.size, used, len(disk.chunks), len(disk.partitions))
    return Parts(frames, bytearray(head + b"".join(struct.pack("<QQQ16s", *p) for p in disk.partitions) + entries))


def key_of(seed: int) -> Ed25519PrivateKey:
    """A key that everybody can make again."""
    return Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)


KEY, OTHER = key_of(1), key_of(2)


def three() -> Disk:
    """Three chunks with gaps before, between and after, and two partitions.

    Most bad vectors are this one, changed in one place.
    """
    chunks = [Chunk(MIB, [0, 1, 7]), Chunk(2 * MIB, [255]), Chunk(5 * MIB, list(range(100)))]
    return Disk(8 * MIB, chunks, partitions=[(MIB, 2 * MIB, 8192, b"ext4"), (4 * MIB, 3 * MIB, 409600, b"xfs")])
