# SPDX-License-Identifier: Apache-2.0
"""Images for run.py: right ones, and ones with changes of which most are faults. Each follows from its seed."""

from __future__ import annotations

import hashlib
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass

import zstandard
from form import CHUNK, ENTRY, GRANULE, HEAD, MIB, PARTITION, Chunk, Disk, Parts, compress, parts_of, skippable

RUN = 128 << 10
Frame = Callable[[random.Random, bytes], bytes]


@dataclass
class Case:
    """A file, how it was made, and the digest that is demanded of it."""

    name: str
    data: bytes
    digest: str
    beyond: bool = False  # a match may reach further back than the window: `zstd -dc` may refuse it


def headed(data: bytes, blocks: bytes, descriptor: int = 0xA4, window: bytes = b"", width: int = 4) -> bytes:
    """A frame with the right content size and checksum around these blocks."""
    return (
        b"\x28\xb5\x2f\xfd"
        + bytes([descriptor])
        + window
        + len(data).to_bytes(width, "little")
        + blocks
        + compress(data)[-4:]
    )


def blocks_of(frame: bytes) -> bytes:
    """Of a frame that compress() made of more than 64 KiB; of a smaller one something else."""
    return frame[9:-4]


def block(kind: int, size: int, content: bytes, last: bool = False) -> bytes:
    return (size << 3 | kind << 1 | last).to_bytes(3, "little") + content


def plain_blocks(draw: random.Random, data: bytes) -> bytes:
    """Raw blocks and runs of any sizes, some of them empty."""
    found, at = [], 0
    while at < len(data):
        size = min(len(data) - at, draw.choice((0, 1, 511, 4096, 70000, RUN, RUN)))
        part = data[at : at + size]
        found.append((1, size, part[:1]) if size and part.count(part[0]) == size else (0, size, part))
        at += size
    if draw.random() < 0.2:
        found.append((0, 0, b""))
    return b"".join(block(*one, last=i == len(found) - 1) for i, one in enumerate(found))


def at_level(draw: random.Random, data: bytes) -> bytes:
    level = draw.choice((-5, 1, 2, 3, 7, 12))
    return zstandard.ZstdCompressor(level=level, write_checksum=True, write_content_size=True).compress(data)


def odd_blocks(draw: random.Random, data: bytes) -> bytes:
    """Blocks that decoders treat differently, if any."""
    plain = plain_blocks(draw, data)
    return draw.choice(
        (
            plain + block(0, 0, b"", last=True),
            block(0, 0, b"") * draw.randrange(1, 200) + plain,
            block(1, 0, b"x") + plain,
            block(3, 5, b"12345") + plain,
            block(2, 0, b"") + plain,
            block(2, 2, b"\0\0") + plain,
            block(0, min(len(data), RUN + 1), data[: RUN + 1]) + plain_blocks(draw, data[RUN + 1 :]),
            plain[:-1],
            plain + b"\0",
            draw.randbytes(draw.randrange(40)),
        )
    )


def changed_bytes(draw: random.Random, data: bytes) -> bytes:
    """One to three changes anywhere, more of them near the end."""
    made = bytearray(data)
    for _ in range(draw.randrange(1, 4)):
        size = len(made)
        at = draw.randrange(size) if draw.random() < 0.6 else max(0, size - 1 - draw.randrange(400))
        what = draw.randrange(6)
        if what == 0:
            made[at] ^= 1 << draw.randrange(8)
        elif what == 1:
            made[at] = draw.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif what == 2:
            made[at:at] = draw.randbytes(draw.choice((1, 1, 4, 8)))
        elif what == 3:
            del made[at : at + draw.choice((1, 1, 4, 8, 100))]
        elif what == 4:
            other = draw.randrange(size)
            made[at : at + 8] = made[other : other + 8]
        else:
            struct.pack_into("<I", made, max(0, min(at, size - 4)), draw.randrange(1 << 32)) if size >= 4 else None
        if not made:
            return b""
    return bytes(made)


def odd_frame(draw: random.Random, data: bytes) -> bytes:
    """A frame with another header, other blocks, or more than one frame."""
    whole = compress(data)
    blocks = plain_blocks(draw, data)
    window = bytes([draw.choice((0, 0x38, 0x40, 0x47, 0x48, 0x49, 0x50, 0x51, 0x58, 0xA0, draw.randrange(256)))])
    return draw.choice(
        (
            lambda: headed(data, blocks, 0x84, window),
            lambda: headed(data, blocks, draw.randrange(256)),
            lambda: headed(data, blocks, 0xE4, width=8),
            lambda: headed(data, blocks, 0xC4, b"\x48", width=8),
            lambda: headed(data, blocks, 0xA5, b"\0"),
            lambda: headed(data, odd_blocks(draw, data)),
            lambda: headed(data, blocks_of(whole)),
            lambda: headed(data, changed_bytes(draw, blocks_of(whole) or b"0")),
            lambda: compress(data, checksum=False),
            lambda: compress(data, size=False),
            lambda: whole + skippable(0x184D2A50, b""),
            lambda: whole[: draw.randrange(1, len(whole))],
            lambda: compress(data[: len(data) // 2]) + compress(data[len(data) // 2 :]),
            lambda: changed_bytes(draw, whole),
            lambda: compress(data[:-1]),
        )
    )()


def narrowed(draw: random.Random, data: bytes) -> bytes:
    """The usual frame, which then declares that its matches reach less far."""
    return headed(data, blocks_of(compress(data)), 0x84, bytes([draw.choice((0x48, 0x50))]))


def content(draw: random.Random, size: int) -> bytes:
    """Of a granule."""
    kind = draw.randrange(4)
    if kind == 0:
        return bytes(size)
    if kind == 1:
        return draw.randbytes(size)
    return (draw.randbytes(draw.choice((1, 8, 700))) * size)[:size]


def fill(draw: random.Random, chunk: Chunk, disk: int, frame: Frame) -> None:
    """Data, hash and frame of a chunk."""
    data, used = bytearray(min(CHUNK, disk - chunk.offset)), b""
    for i in chunk.granules:
        part = content(draw, min(GRANULE, len(data) - i * GRANULE))
        data[i * GRANULE : i * GRANULE + len(part)] = part
        used += part
    chunk.data, chunk.hash = bytes(data), hashlib.sha256(used).digest()
    chunk.frame = frame(draw, chunk.data)[:1_056_769] or b"\0"


def right_frame(draw: random.Random, data: bytes) -> bytes:
    return at_level(draw, data) if draw.random() < 0.7 else headed(data, plain_blocks(draw, data))


def a_disk(draw: random.Random, frame: Frame = right_frame) -> Disk:
    """A right one, but for what `frame` makes of one of its chunks."""
    sizes = (512, 4096, 4608, MIB - 512, MIB, MIB + 512, 3 * MIB, 3 * MIB + 4608, 5 * MIB)
    size = draw.choice(sizes) if draw.random() < 0.97 else draw.choice((64, 65, 130)) * MIB
    count = -(-size // CHUNK)
    chosen = sorted(draw.sample(range(count), draw.randrange(min(count, 4) + 1)))
    chunks = []
    for number in chosen:
        granules = -(-min(CHUNK, size - number * CHUNK) // GRANULE)
        chunks.append(Chunk(number * CHUNK, sorted(draw.sample(range(granules), draw.randrange(1, granules + 1)))))
    special = draw.randrange(len(chunks)) if chunks else 0
    for i, chunk in enumerate(chunks):
        fill(draw, chunk, size, frame if i == special else right_frame)
    starts = sorted(draw.randrange(size) for _ in range(draw.randrange(4)))
    partitions = [(at, draw.randrange(size - at + 1), 0, draw.choice((b"ext4", b"data", b"a_1"))) for at in starts]
    return Disk(size, chunks, draw.choice((512, 4096)) if size % 4096 == 0 else 512, partitions)


def numbers(draw: random.Random, old: int) -> int:
    """A number that may be a limit."""
    near = old + draw.choice((-1, 1, 8, -8, 512, -512, 4096, -4096, MIB, -MIB, 64 * MIB))
    powers = [1 << bit for bit in (0, 21, 31, 32, 50, 63, 64)]
    far = [0, *powers, *(power - 1 for power in powers), (1 << 50) + 512, draw.randrange(1 << 64)]
    return draw.choice([near, near, near, old ^ 1 << draw.randrange(64), *far])


def change_index(draw: random.Random, parts: Parts) -> None:
    """One field of the index, which then has its right digest."""
    partitions, chunks = struct.unpack_from("<I", parts.index, 36)[0], struct.unpack_from("<I", parts.index, 32)[0]
    fields = [(8, "I"), (12, "I"), (16, "Q"), (24, "Q"), (32, "I"), (36, "I")]
    for i in range(partitions):
        start = HEAD + i * PARTITION
        fields += [(start + at, form) for at, form in ((0, "Q"), (8, "Q"), (16, "Q"), (24, "I"), (39, "B"))]
    for i in range(chunks):
        start = HEAD + partitions * PARTITION + i * ENTRY
        fields += [(start + at, form) for at, form in ((0, "Q"), (8, "Q"), (16, "I"), (20, "Q"), (44, "Q"), (52, "I"))]
    at, form = draw.choice(fields)
    value = numbers(draw, struct.unpack_from("<" + form, parts.index, at)[0])
    struct.pack_into("<" + form, parts.index, at, value % (1 << 8 * struct.calcsize(form)))


def change_frames(draw: random.Random, parts: Parts) -> None:
    """A frame before the index, without regard to the index: gaps above all."""
    if not parts.frames:
        return
    at = draw.randrange(len(parts.frames))
    frame, size = parts.frames[at]
    what = draw.randrange(4)
    if what == 0:
        parts.frames[at] = (changed_bytes(draw, frame), size)
    elif what == 1:
        place = draw.randrange(len(frame))
        parts.frames[at] = (frame[:place] + bytes([frame[place] ^ 1 << draw.randrange(8)]) + frame[place + 1 :], size)
    elif what == 2:
        del parts.frames[at]
    else:
        parts.frames.insert(at, parts.frames[draw.randrange(len(parts.frames))])


def sealed(draw: random.Random, parts: Parts) -> bytes:
    """Perhaps with another trailer, or another seek table."""
    what = draw.randrange(12)
    if what == 0:
        field = draw.choice(("version", "zero", "at", "size"))
        old = {"version": 1, "zero": 0, "at": len(parts.body()) + 8, "size": len(parts.index)}[field]
        bits = 32 if field in {"version", "zero"} else 64
        return parts.seal(**{field: numbers(draw, old) % (1 << bits)})
    if what == 1:
        parts.table_edit = lambda table: changed_bytes(draw, table)
    return parts.seal()


def case(seed: int, number: int) -> Case:
    """The image of that number; a tenth of them are right."""
    draw = random.Random(f"{seed}/{number}")
    kinds = {"right": 4, "bytes": 8, "index": 12, "frame": 12, "window": 1, "frames": 4}
    what = draw.choices(list(kinds), list(kinds.values()))[0]
    parts = parts_of(a_disk(draw, {"frame": odd_frame, "window": narrowed}.get(what, right_frame)))
    if what == "index":
        change_index(draw, parts)
    elif what == "frames":
        change_frames(draw, parts)
    data = sealed(draw, parts) if what in {"index", "frames"} else parts.seal()
    if what == "bytes":
        data = changed_bytes(draw, data)
    digest = "sha256:" + hashlib.sha256(parts.index).hexdigest()
    return Case(what, data, digest, beyond=what == "window")
