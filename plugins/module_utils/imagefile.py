# SPDX-License-Identifier: Apache-2.0
"""Reads trailer and index of an image (contract/image.md), to learn its digest from its own bytes."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from pathlib import Path

from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SledError

TAIL = 256 << 10  # bytes: enough for an image of 2.5 GiB
INDEX_MAX = 40 + 40 * 128 + 84 * (1 << 21)
INDEX, TRAILER = 0x184D2A5A, 0x184D2A5B
HEAD = struct.Struct("<8sIIQQII")
PARTITION = struct.Struct("<QQQ16s")
END = struct.Struct("<II8sIIQQ32s72s")
TRAILER_FRAME = END.size

Reader = Callable[[int, int], bytes]  # bytes of the file: position, size


def read_file(path: str) -> Json:
    """The content of an image on this machine."""
    try:
        with Path(path).open("rb") as file:
            size = file.seek(0, 2)

            def read(at: int, count: int) -> bytes:
                file.seek(at)
                return file.read(count)

            return parse(read, size, path)
    except OSError as error:
        raise SledError(f"image {path}: {error}") from error


def read_urls(client: Client, urls: list[str]) -> Json:
    """The content of a published image, from the first URL that responds."""
    faults = []
    for url in urls:
        try:
            size, tail = client.part(url, f"-{TAIL}")
        except SledError as error:
            faults.append(str(error))
            continue

        def read(at: int, count: int, url: str = url, size: int = size, tail: bytes = tail) -> bytes:
            start = at - (size - len(tail))
            return tail[start : start + count] if start >= 0 else client.part(url, f"{at}-{at + count - 1}")[1]

        return parse(read, size, url)
    raise SledError("; ".join(faults) or "the image has no URL")


def parse(read: Reader, size: int, place: str) -> Json:
    """Digest, sizes and partitions; the digest is computed from the index."""

    def must(fact: bool, text: str) -> None:
        if not fact:
            raise SledError(f"{place}: {text}")

    must(size > 9 + TRAILER_FRAME, f"{size} bytes are no image of Sled")
    count, flags, magic = struct.unpack("<IBI", read(size - 9, 9))
    must(flags == 0 and magic == 0x8F92EAB1, "this is no image of Sled, or it was cut off")
    end = size - (8 + 8 * count + 9) - TRAILER_FRAME
    must(end >= 8, "shorter than its seek table states")
    frame, payload, name, version, zero, at, length, stated, unused = END.unpack(read(end, END.size))
    must((frame, payload, name) == (TRAILER, 136, b"sled-end"), "it has no trailer of an image")
    must(version == 1, f"its trailer has version {version}; 1 is read")
    must(zero == 0 and not any(unused), "its trailer is damaged")
    must(8 <= at <= end and length == end - at and length <= INDEX_MAX, "its index is not where the trailer locates it")
    index = read(at - 8, 8 + length)
    must(index[:8] == struct.pack("<II", INDEX, length), "its index is not a separate frame")
    must(hashlib.sha256(index[8:]).digest() == stated, "its index is damaged")
    return {"digest": f"sha256:{stated.hex()}", "file_bytes": size, **contents(index[8:], place)}


def contents(index: bytes, place: str) -> Json:
    """What people want to know of an index."""
    if len(index) < HEAD.size or index[:8] not in {b"sled-img", b"sled-prt"}:
        raise SledError(f"{place}: it has no index of an image")
    _, _, _, size, used, _, count = HEAD.unpack_from(index)
    if len(index) < HEAD.size + count * PARTITION.size:
        raise SledError(f"{place}: its index is shorter than it states")
    partitions = []
    for i in range(count):
        start, part, part_used, content = PARTITION.unpack_from(index, HEAD.size + i * PARTITION.size)
        text = content.rstrip(b"\0").decode("ascii", errors="replace")
        if not text.replace("_", "").isalnum():
            raise SledError(f"{place}: its index is damaged")
        partitions.append({"content": text, "start": start, "bytes": part, "used_bytes": part_used})
    kind = "partition" if index[:8] == b"sled-prt" else "disk"
    return {"kind": kind, "bytes": size, "used_bytes": used, "partitions": partitions}
