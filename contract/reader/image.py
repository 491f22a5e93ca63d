# SPDX-License-Identifier: Apache-2.0
"""Reads an image by ../image.md alone.

usage: python3 image.py FILE [--digest sha256:...] [--chunks] [--raw OUT]

Checks every byte of the file; with `--chunks` it leaves out the gap frames, as a reader of chunks does. `--raw` writes
the disk that is in it. Exit code 2, 3 or 5 as in ../exit-codes.md.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import zstandard

CHUNK = 1 << 20
GRANULE = 4096
FRAME_MAX = 1056768
GAP_MAX = 64 << 20
RUN = 128 << 10
DISK_MAX = 1 << 50
CHUNKS_MAX, PARTITIONS_MAX = 33554432, 128
UNSUPPORTED, INTEGRITY = 3, 5
INDEX, TRAILER, SEEK_TABLE = 0x184D2A5A, 0x184D2A5B, 0x184D2A5E
HEAD = struct.Struct("<8sIIQQII")
PARTITION = struct.Struct("<QQQ16s")
ENTRY = struct.Struct("<QQI32s32s")
INDEX_MAX = HEAD.size + PARTITIONS_MAX * PARTITION.size + CHUNKS_MAX * ENTRY.size
END = struct.Struct("<8sIIQQ32s72s")
FOOTER = struct.Struct("<IBI")
WINDOWS = {0x48, 0x50}  # 512 KiB, 1 MiB


class Refused(Exception):
    """The file is not an image that this reader takes."""

    def __init__(self, text: str, code: int = INTEGRITY) -> None:
        super().__init__(text)
        self.code = code


def must(fact: bool, text: str, code: int = INTEGRITY) -> None:
    """Refuses unless the fact holds."""
    if not fact:
        raise Refused(text, code)


@dataclass
class Chunk:
    """One entry of the index."""

    offset: int
    at: int
    frame: int
    used: bytes
    hash: bytes
    size: int

    def granules(self) -> Iterator[tuple[bool, int, int]]:
        """Whether it is used, start and end of each granule."""
        for i, start in enumerate(range(0, self.size, GRANULE)):
            yield bool(self.used[i // 8] >> i % 8 & 1), start, min(self.size, start + GRANULE)

    def used_bytes(self) -> int:
        """Bytes in used granules."""
        return sum(end - start for used, start, end in self.granules() if used)


@dataclass
class Index:
    """What the index of an image states of its disk."""

    sector: int
    bytes: int
    used: int
    chunks: list[Chunk]


def check_partition(data: bytes, disk: int, least: int) -> int:
    """One partition, which is for people and tools. Returns its start."""
    start, size, used, content = PARTITION.unpack(data)
    must(least <= start < disk, f"partition starts at {start}")
    must(size <= disk - start, f"partition at {start} ends past the disk")
    must(used <= size, f"partition at {start} uses more than it has")
    must(re.fullmatch(rb"[a-z0-9_]+\0*", content) is not None, f"partition at {start} has content {content!r}")
    return int(start)


def parse_chunk(data: bytes, disk: int, least: int) -> Chunk:
    """One chunk, without its place in the file."""
    offset, at, frame, used, digest = ENTRY.unpack(data)
    must(offset % CHUNK == 0 and least <= offset < disk, f"chunk at {offset}")
    must(1 <= frame <= FRAME_MAX, f"chunk at {offset} has a frame of {frame} bytes")
    chunk = Chunk(offset, at, frame, used, digest, min(CHUNK, disk - offset))
    bits = int.from_bytes(used, "little")
    must(
        bits != 0 and bits >> -(-chunk.size // GRANULE) == 0,
        f"chunk at {offset} uses no granule, or one past the disk's end",
    )
    return chunk


def parse_index(data: bytes) -> Index:
    """The index's payload; its layout is checked too."""
    must(len(data) >= HEAD.size and data[:8] in {b"sled-img", b"sled-prt"}, "no index")
    _, version, sector, size, used, chunk_count, partition_count = HEAD.unpack_from(data)
    must(version == 1, f"index of version {version}", UNSUPPORTED)
    must(sector in {512, 4096}, f"sectors of {sector}")
    must(0 < size < 1 << 63 and size % sector == 0, f"disk of {size} bytes")
    must(size <= DISK_MAX, f"disk of {size} bytes", UNSUPPORTED)
    must(
        chunk_count <= CHUNKS_MAX and partition_count <= PARTITIONS_MAX,
        "more chunks or partitions than the limits",
        UNSUPPORTED,
    )
    must(
        len(data) == HEAD.size + partition_count * PARTITION.size + chunk_count * ENTRY.size,
        "index of another size than it states",
    )
    index, at = Index(sector, size, used, []), HEAD.size
    least = 0
    for _ in range(partition_count):
        least = check_partition(data[at : at + PARTITION.size], size, least)
        at += PARTITION.size
    least = 0
    for _ in range(chunk_count):
        index.chunks.append(parse_chunk(data[at : at + ENTRY.size], size, least))
        least, at = index.chunks[-1].offset + CHUNK, at + ENTRY.size
    must(used == sum(chunk.used_bytes() for chunk in index.chunks), "sum of used bytes")
    return index


def gap_frame(size: int) -> bytes:
    """The only frame that may stand for so many bytes without a used one."""
    blocks = b""
    for at in range(0, size, RUN):
        run = min(RUN, size - at)
        blocks += (run << 3 | 2 | (at + run == size)).to_bytes(3, "little") + b"\0"
    return b"\x28\xb5\x2f\xfd\x80\x38" + struct.pack("<I", size) + blocks


def gap_bytes(size: int) -> int:
    """Of all frames of a gap."""
    return sum(n * (10 + 4 * -(-part // RUN)) for n, part in ((size // GAP_MAX, GAP_MAX), (1, size % GAP_MAX)) if part)


def pieces(index: Index) -> Iterator[tuple[Chunk | None, int]]:
    """Every frame in order: a chunk and its bytes of disk, or None for a gap."""
    end = 0
    for chunk in [*index.chunks, None]:
        gap = (chunk.offset if chunk else index.bytes) - end
        for at in range(0, gap, GAP_MAX):
            yield None, min(GAP_MAX, gap - at)
        if chunk:
            yield chunk, chunk.size
            end = chunk.offset + chunk.size


def check_layout(index: Index) -> int:
    """Each chunk's file offset. Returns where the frames end."""
    at = end = 0
    for chunk in index.chunks:
        at += gap_bytes(chunk.offset - end)
        must(chunk.at == at, "a chunk is not where the frames before it end")
        at, end = at + chunk.frame, chunk.offset + chunk.size
    return at + gap_bytes(index.bytes - end)


def seek_table(index: Index, index_size: int) -> bytes:
    """Its frame."""
    entries = [(chunk.frame if chunk else gap_bytes(size), size) for chunk, size in pieces(index)]
    entries += [(8 + index_size, 0), (8 + END.size, 0)]
    table = b"".join(struct.pack("<II", *entry) for entry in entries) + FOOTER.pack(len(entries), 0, 0x8F92EAB1)
    return struct.pack("<II", SEEK_TABLE, len(table)) + table


def read_at(file: BinaryIO, at: int, size: int) -> bytes:
    """All of it, or the file is cut."""
    file.seek(at)
    data = file.read(size)
    must(len(data) == size, "cut off")
    return data


def open_image(file: BinaryIO, digest: str | None = None) -> Index:
    """The proven index, of that digest if one is demanded: trailer, digest, index, seek table, in this order."""
    total = file.seek(0, 2)
    must(total >= FOOTER.size, "too short")
    count, flags, magic = FOOTER.unpack(read_at(file, total - FOOTER.size, FOOTER.size))
    must(flags == 0 and magic == 0x8F92EAB1, "no seek table")
    table_at = total - (8 + 8 * count + FOOTER.size)
    trailer_at = table_at - 8 - END.size
    must(trailer_at >= 8, "shorter than its seek table states")
    trailer = read_at(file, trailer_at, 8 + END.size)
    must(trailer[:16] == struct.pack("<II", TRAILER, END.size) + b"sled-end", "no trailer")
    _, version, zero, at, size, wanted, unused = END.unpack(trailer[8:])
    must(version == 1, f"trailer of version {version}", UNSUPPORTED)
    must(zero == 0 and not any(unused), "trailer")
    must(at >= 8 and at + size == trailer_at, "the index is not at the position in the trailer")
    must(size <= INDEX_MAX, f"index of {size} bytes", UNSUPPORTED)
    must(digest in {None, f"sha256:{wanted.hex()}"}, f"digest is sha256:{wanted.hex()}")
    payload = read_at(file, at - 8, 8 + size)
    must(payload[:8] == struct.pack("<II", INDEX, size), "the index is no frame")
    must(hashlib.sha256(payload[8:]).digest() == wanted, "the index has another digest")
    index = parse_index(payload[8:])
    must(check_layout(index) == at - 8, "the frames do not end where the index starts")
    must(read_at(file, table_at, total - table_at) == seek_table(index, size), "another seek table")
    return index


def check_frame(frame: bytes, size: int) -> None:
    """Header and blocks of a data frame, before anything is decoded: the decoder makes room for what they declare."""
    must(len(frame) >= 6 and frame[:4] == b"\x28\xb5\x2f\xfd", "no zstd frame")
    single, width = frame[4] >> 5 & 1, 1 << (frame[4] >> 6)
    must(frame[4] & 0x1F == 0x04, f"descriptor {frame[4]:02x}")
    must(single == 1 or (frame[5] in WINDOWS and width > 1), f"window {frame[5]:02x}, or no content size")
    at, last = 6 - single + width, 0
    content = int.from_bytes(frame[at - width : at], "little") + (256 if width == 2 else 0)
    must(content == size, f"content of {content} bytes")
    while not last:
        must(at + 3 <= len(frame), "a frame without end")
        last, kind, block = frame[at] & 1, frame[at] >> 1 & 3, int.from_bytes(frame[at : at + 3], "little") >> 3
        must(kind != 3 and block <= RUN, f"block of {block} bytes, type {kind}")
        at += 3 + (1 if kind == 1 else block)
    must(at + 4 == len(frame), "the frame ends elsewhere")


def read_chunk(file: BinaryIO, chunk: Chunk) -> bytes:
    """The chunk's bytes, proven."""
    frame, where = read_at(file, chunk.at, chunk.frame), f"chunk at {chunk.offset}"
    check_frame(frame, chunk.size)
    try:
        data = zstandard.ZstdDecompressor().decompress(frame, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise Refused(f"{where}: {error}") from error
    must(len(data) == chunk.size, f"{where}: {len(data)} bytes")
    total = hashlib.sha256()
    for used, start, end in chunk.granules():
        if used:
            total.update(data[start:end])
        else:
            must(not any(data[start:end]), f"{where}: a free granule is not zeros")
    must(total.digest() == chunk.hash, f"{where}: hash")
    return data


def read_disk(file: BinaryIO, index: Index, gaps: bool = True) -> Iterator[tuple[int, bytes]]:
    """Every chunk as (offset, data); gap frames are compared on the way, if at all."""
    at = 0
    for chunk, size in pieces(index):
        if chunk:
            yield chunk.offset, read_chunk(file, chunk)
        elif gaps:
            must(read_at(file, at, gap_bytes(size)) == gap_frame(size), f"gap frame at file offset {at}")
        at += chunk.frame if chunk else gap_bytes(size)


def run(source: Path, digest: str | None = None, raw: Path | None = None, chunks: bool = False) -> None:
    """Reads all of the image, with `chunks` all but its gaps."""
    with source.open("rb") as file, (raw or Path("/dev/null")).open("wb") as out:
        index = open_image(file, digest)
        for offset, data in read_disk(file, index, not chunks):
            if raw:
                out.seek(offset)
                out.write(data)
        if raw:
            out.truncate(index.bytes)


def main() -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(description="reads an image of Sled and checks every byte of it")
    parser.add_argument("file", type=Path)
    parser.add_argument("--digest", help="that it must have, as sha256:<hex>")
    parser.add_argument("--chunks", action="store_true", help="do not read gap frames")
    parser.add_argument("--raw", type=Path, help="write the disk here")
    given = parser.parse_args()
    try:
        run(given.file, given.digest, given.raw, given.chunks)
    except Refused as refusal:
        print(f"image.py: {given.file}: {refusal}", file=sys.stderr)
        return refusal.code
    except (OSError, ValueError) as error:
        print(f"image.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
