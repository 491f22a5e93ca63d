# SPDX-License-Identifier: Apache-2.0
"""Makes every vector beside it again, from ../../image.md: `python3 make.py`.

They are committed; a reader needs only them. `before/` has images of disks of ../disk, made by the sledc that did not
have the rule of "What a writer keeps" yet: they stay readable, and are not made again.

`manifest` has one line for each file: its name, exit code of a reader of the file, SHA-256 of the raw disk (`-`:
neither kind of reader accepts it), exit code of a reader of chunks.

The keys are made from fixed seeds and prove nothing: they are for tests only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import zstandard
from bad import (
    bad_chunks,
    bad_head,
    bad_partitions,
    bad_places,
    bad_trailer,
    order_of_faults,
    seek_tables,
    unsupported,
)
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from form import KEY, MIB, OTHER, RUN, Chunk, Disk, compress, parts_of, reheaded, three, windowed
from frames import bad_blocks, bad_frames, bad_gaps, bad_windows, match_block, with_blocks

HERE = Path(__file__).parent


def good() -> dict[str, Disk]:
    """Images that every reader takes."""
    many = [(i * 4096, 4096, 0, b"data") for i in range(128)]
    odd = [(0, 0, 0, b"data"), (513, 4096, 1, b"data"), (513, MIB - 513, 0, b"ext4"), (4000, 1, 1, b"swap")]
    return {
        "one_sector": Disk(512, [Chunk(0, [0])]),
        "one_chunk": Disk(MIB, [Chunk(0, list(range(256)))]),
        "no_chunk": Disk(3 * MIB + 512, []),
        "gaps": three(),
        "sector_4096": Disk(4 * MIB, [Chunk(0, [0, 1]), Chunk(3 * MIB, [254, 255])], sector=4096),
        "last_chunk_short": Disk(2 * MIB + 4608, [Chunk(2 * MIB, [0, 1])]),
        "last_chunk_partly_free": Disk(2 * MIB + 4608, [Chunk(2 * MIB, [0])]),
        "gap_64_mib": Disk(65 * MIB, [Chunk(64 * MIB, [3])]),
        "gap_over_64_mib": Disk(200 * MIB, [Chunk(0, [0]), Chunk(150 * MIB, [9, 10])]),
        "partitions_128": Disk(MIB, [Chunk(0, [0, 255])], partitions=many),
        "content_16_letters": Disk(MIB, [Chunk(0, [0])], partitions=[(0, MIB, 4096, b"abcdefghijkl_678")]),
        "one_partition": Disk(
            3 * MIB + 512,
            [Chunk(0, [0]), Chunk(3 * MIB, [0])],
            magic=b"sled-prt",
            partitions=[(0, 3 * MIB + 512, 4608, b"ext4")],
        ),
        "partitions_odd": Disk(MIB, [Chunk(0, [0])], partitions=odd),
        "window_512_kib": framed(windowed(0x48)),
        "window_1_mib": framed(windowed(0x50)),
        "size_in_8_bytes": framed(lambda data: reheaded(compress(data), 0xE4, size_of(data, 8))),
        "sequence_of_runs": framed(with_match),
    }


def with_match(data: bytes) -> bytes:
    """A frame whose first block is one long match, if the chunk begins with zeros."""
    return compress(data) if any(data[:RUN]) else with_blocks(match_block(), RUN)(data)


def size_of(data: bytes, width: int) -> bytes:
    """The content size of a frame."""
    return len(data).to_bytes(width, "little")


def framed(frame: Callable[[bytes], bytes]) -> Disk:
    """three(), each frame made otherwise."""
    disk = three()
    for chunk in disk.chunks:
        chunk.fill(disk.size)
        chunk.frame = frame(chunk.data)
    return disk


def three_hash() -> str:
    """SHA-256 of the raw disk of three()."""
    return framed(compress).raw_hash()


def write_keys() -> None:
    """The key pairs, for tests only."""

    def public(key: Ed25519PrivateKey) -> bytes:
        return key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )

    private = KEY.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    for name, data in {"test.key": private, "test.pub": public(KEY), "both.pub": public(KEY) + public(OTHER)}.items():
        (HERE / "keys" / name).write_bytes(data)


def main() -> None:
    """Writes every vector and the manifest."""
    lines = []

    def put(name: str, data: bytes, code: int, raw: str = "-", *, of_chunks: int | None = None) -> None:
        (HERE / name).write_bytes(data)
        lines.append(f"{name} {code} {raw} {code if of_chunks is None else of_chunks}\n")

    for folder in ("ok", "bad", "keys"):
        (HERE / folder).mkdir(exist_ok=True)
        for old in (HERE / folder).iterdir():
            old.unlink()
    write_keys()
    for path in (HERE / "before").iterdir():
        frames = zstandard.ZstdDecompressor().stream_reader(path.read_bytes(), read_across_frames=True)
        lines.append(f"before/{path.name} 0 {hashlib.sha256(frames.read()).hexdigest()} 0\n")
    for name, disk in good().items():
        put(f"ok/{name}.raw.zst", parts_of(disk).seal(), 0, disk.raw_hash())
    for group in (
        bad_places,
        bad_trailer,
        bad_head,
        bad_partitions,
        bad_chunks,
        bad_frames,
        bad_blocks,
        bad_windows,
        seek_tables,
    ):
        for name, data in group().items():
            put(f"bad/{name}.raw.zst", data, 5)
    for name, data in unsupported().items():
        put(f"bad/{name}.raw.zst", data, 3)
    for name, (data, code) in order_of_faults().items():
        put(f"bad/{name}.raw.zst", data, code)
    for name, data in bad_gaps().items():
        put(f"bad/{name}.raw.zst", data, 5, three_hash(), of_chunks=0)
    (HERE / "manifest").write_text("".join(sorted(lines)))


if __name__ == "__main__":
    main()
