# SPDX-License-Identifier: Apache-2.0
"""Reads an image by ../image.md alone.

usage: python3 image.py FILE [--keys PEM] [--digest sha256:...] [--raw OUT]

Checks every byte of the file; `--raw` writes the disk that is in it. Exit code 5 or 3 as in ../exit-codes.md.
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
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

CHUNK = 1 << 20
GRANULE = 4096
FRAME_MAX = 1056768
GAP_MAX = 64 << 20
RUN = 128 << 10
DISK_MAX = 1 << 50
CHUNKS_MAX, PARTITIONS_MAX = 2097152, 128
INTEGRITY, UNSUPPORTED = 5, 3
INDEX, TRAILER, SEEK_TABLE = 0x184D2A5A, 0x184D2A5B, 0x184D2A5E
HEAD = struct.Struct("<8sIIQQII")
PARTITION = struct.Struct("<QQQ16s")
ENTRY = struct.Struct("<QQI32s32s")
END = struct.Struct("<8sIIQQ32s8s64s")
FOOTER = struct.Struct("<IBI")


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
class Partition:
    """For people and tools."""

    start: int
    bytes: int
    used: int
    content: str


@dataclass
class Index:
    """What the index of an image states of its disk."""

    sector: int
    bytes: int
    used: int
    partitions: list[Partition]
    chunks: list[Chunk]


def parse_partition(data: bytes, disk: int, least: int) -> Partition:
    """One partition."""
    start, size, used, content = PARTITION.unpack(data)
    must(least <= start < disk, f"partition starts at {start}")
    must(size <= disk - start, f"partition at {start} ends past the disk")
    must(used <= size, f"partition at {start} uses more than it has")
    name = re.fullmatch(rb"([a-z0-9_]+)\0*", content)
    must(name is not None, f"partition at {start} has content {content!r}")
    return Partition(start, size, used, content.rstrip(b"\0").decode())


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
    must(len(data) >= HEAD.size and data[:8] == b"sled-img", "no index")
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
    index, at = Index(sector, size, used, [], []), HEAD.size
    least = 0
    for _ in range(partition_count):
        index.partitions.append(parse_partition(data[at : at + PARTITION.size], size, least))
        least, at = index.partitions[-1].start, at + PARTITION.size
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


def check_layout(index: Index, index_size: int) -> tuple[int, bytes]:
    """Each chunk's file offset. Returns where the frames end, and the seek table's frame."""
    at, table = 0, b""
    count = 2
    for chunk, size in pieces(index):
        must(chunk is None or chunk.at == at, "a chunk is not where the frames before it end")
        frame = chunk.frame if chunk else 10 + 4 * -(-size // RUN)
        table += struct.pack("<II", frame, size)
        at, count = at + frame, count + 1
    table += struct.pack("<IIII", 8 + index_size, 0, 8 + END.size, 0) + FOOTER.pack(count, 0, 0x8F92EAB1)
    return at, struct.pack("<II", SEEK_TABLE, len(table)) + table


def check_signature(digest: bytes, key: bytes, signature: bytes, keys: list[Ed25519PublicKey] | None) -> None:
    """Signed by one of the keys; without keys only that there is a whole signature or none."""
    must(any(key) == any(signature), "half a signature")
    if keys is None:
        return
    must(any(signature), "not signed")
    for public in keys:
        if hashlib.sha256(public.public_bytes_raw()).digest()[:8] != key:
            continue
        try:
            public.verify(signature, b"sled-image-1:" + digest)
        except InvalidSignature:
            continue
        return
    raise Refused("signed by none of the keys")


def read_at(file: BinaryIO, at: int, size: int) -> bytes:
    """All of it, or the file is cut."""
    file.seek(at)
    data = file.read(size)
    must(len(data) == size, "cut off")
    return data


def open_image(file: BinaryIO, keys: list[Ed25519PublicKey] | None = None, digest: str | None = None) -> Index:
    """The proven index: trailer, digest, signature, index, seek table, in this order."""
    total = file.seek(0, 2)
    must(total >= FOOTER.size, "too short")
    count, flags, magic = FOOTER.unpack(read_at(file, total - FOOTER.size, FOOTER.size))
    must(flags == 0 and magic == 0x8F92EAB1, "no seek table")
    table_at = total - (8 + 8 * count + FOOTER.size)
    trailer_at = table_at - 8 - END.size
    must(trailer_at >= 8, "shorter than its seek table states")
    trailer = read_at(file, trailer_at, 8 + END.size)
    must(trailer[:16] == struct.pack("<II", TRAILER, END.size) + b"sled-end", "no trailer")
    _, version, zero, at, size, wanted, key, signature = END.unpack(trailer[8:])
    must(version == 1, f"trailer of version {version}", UNSUPPORTED)
    must(zero == 0, "trailer")
    must(at >= 8 and at + size == trailer_at, "the index is not at the position in the trailer")
    must(
        size <= HEAD.size + PARTITIONS_MAX * PARTITION.size + CHUNKS_MAX * ENTRY.size,
        f"index of {size} bytes",
        UNSUPPORTED,
    )
    must(digest in {None, f"sha256:{wanted.hex()}"}, f"digest is sha256:{wanted.hex()}")
    payload = read_at(file, at - 8, 8 + size)
    must(payload[:8] == struct.pack("<II", INDEX, size), "the index is no frame")
    must(hashlib.sha256(payload[8:]).digest() == wanted, "the index has another digest")
    check_signature(wanted, key, signature, keys)
    index = parse_index(payload[8:])
    end, table = check_layout(index, size)
    must(end == at - 8, "the frames do not end where the index starts")
    must(read_at(file, table_at, total - table_at) == table, "another seek table")
    return index


def read_chunk(file: BinaryIO, chunk: Chunk) -> bytes:
    """The chunk's bytes, proven."""
    frame, where = read_at(file, chunk.at, chunk.frame), f"chunk at {chunk.offset}"
    try:
        # Distinguished before anything is decoded: what a frame declares is what the decoder makes room for.
        head = zstandard.get_frame_parameters(frame)
        must(frame[:4] == b"\x28\xb5\x2f\xfd", f"{where}: no zstd frame")
        must(
            head.content_size == chunk.size and head.has_checksum and head.dict_id == 0, f"{where}: header of its frame"
        )
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


def read_disk(file: BinaryIO, index: Index) -> Iterator[tuple[int, bytes]]:
    """Every chunk as (offset, data); gap frames are compared on the way."""
    at = 0
    for chunk, size in pieces(index):
        if chunk:
            yield chunk.offset, read_chunk(file, chunk)
            at += chunk.frame
            continue
        frame = gap_frame(size)
        must(read_at(file, at, len(frame)) == frame, f"gap frame at file offset {at}")
        at += len(frame)


def read_keys(path: Path) -> list[Ed25519PublicKey]:
    """Every public key of a PEM file."""
    found = [
        load_pem_public_key(block)
        for block in re.findall(
            rb"-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----\n?", path.read_bytes(), re.DOTALL
        )
    ]
    keys = [key for key in found if isinstance(key, Ed25519PublicKey)]
    if not keys or len(keys) != len(found):
        raise ValueError(f"{path}: not Ed25519 public keys")
    return keys


def run(source: Path, keys: Path | None, digest: str | None, raw: Path | None) -> None:
    """Reads all of the image."""
    with source.open("rb") as file:
        index = open_image(file, read_keys(keys) if keys else None, digest)
        if raw is None:
            for _ in read_disk(file, index):
                pass
            return
        with raw.open("wb") as out:
            for offset, data in read_disk(file, index):
                out.seek(offset)
                out.write(data)
            out.truncate(index.bytes)


def main() -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(description="reads an image of Sled and checks every byte of it")
    parser.add_argument("file", type=Path)
    parser.add_argument("--keys", type=Path, help="PEM file of public keys, one of which must have signed it")
    parser.add_argument("--digest", help="that it must have, as sha256:<hex>")
    parser.add_argument("--raw", type=Path, help="write the disk here")
    given = parser.parse_args()
    try:
        run(given.file, given.keys, given.digest, given.raw)
    except Refused as refusal:
        print(f"image.py: {given.file}: {refusal}", file=sys.stderr)
        return refusal.code
    except (OSError, ValueError) as error:
        print(f"image.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
