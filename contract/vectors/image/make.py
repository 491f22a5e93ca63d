# SPDX-License-Identifier: Apache-2.0
"""Makes every vector beside it again, from ../../image.md: `python3 make.py`.

They are committed; a reader needs only them.

`manifest` has one line for each case: file, exit code, keys to check with (`-`: none), SHA-256 of the raw disk (`-`:
none). The keys are made from fixed seeds and prove nothing: they are for tests only.
"""

from __future__ import annotations

from pathlib import Path

from bad import (
    bad_chunks,
    bad_frames,
    bad_head,
    bad_partitions,
    bad_places,
    bad_trailer,
    seek_tables,
    signatures,
    unsupported,
)
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from form import KEY, MIB, OTHER, Chunk, Disk, parts_of, three

HERE = Path(__file__).parent


def good() -> dict[str, tuple[Disk, Ed25519PrivateKey | None, str]]:
    """Images that every reader takes: disk, signer, keys to check with."""
    many = [(i * 4096, 4096, 0, b"data") for i in range(128)]
    return {
        "one_sector": (Disk(512, [Chunk(0, [0])]), None, "-"),
        "one_chunk": (Disk(MIB, [Chunk(0, list(range(256)))]), None, "-"),
        "no_chunk": (Disk(3 * MIB + 512, []), None, "-"),
        "gaps": (three(), None, "-"),
        "sector_4096": (Disk(4 * MIB, [Chunk(0, [0, 1]), Chunk(3 * MIB, [254, 255])], sector=4096), None, "-"),
        "last_chunk_short": (Disk(2 * MIB + 4608, [Chunk(2 * MIB, [0, 1])]), None, "-"),
        "last_chunk_partly_free": (Disk(2 * MIB + 4608, [Chunk(2 * MIB, [0])]), None, "-"),
        "gap_64_mib": (Disk(65 * MIB, [Chunk(64 * MIB, [3])]), None, "-"),
        "gap_over_64_mib": (Disk(200 * MIB, [Chunk(0, [0]), Chunk(150 * MIB, [9, 10])]), None, "-"),
        "partitions_128": (Disk(MIB, [Chunk(0, [0, 255])], partitions=many), None, "-"),
        "content_16_letters": (Disk(MIB, [Chunk(0, [0])], partitions=[(0, MIB, 4096, b"abcdefghijkl_678")]), None, "-"),
        "signed": (three(), KEY, "test.pub"),
        "signed_by_the_second": (three(), OTHER, "both.pub"),
        "signed_not_looked_at": (three(), OTHER, "-"),
    }


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

    def put(name: str, data: bytes, code: int, keys: str = "-", raw: str = "-") -> None:
        (HERE / name).write_bytes(data)
        lines.append(f"{name} {code} {keys} {raw}\n")

    for folder in ("ok", "bad", "keys"):
        (HERE / folder).mkdir(exist_ok=True)
        for old in (HERE / folder).iterdir():
            old.unlink()
    write_keys()
    for name, (disk, key, keys) in good().items():
        data = parts_of(disk).seal(key)
        put(f"ok/{name}.raw.zst", data, 0, keys, disk.raw_hash())
    for group in (
        bad_places,
        bad_trailer,
        bad_head,
        bad_partitions,
        bad_chunks,
        bad_frames,
        seek_tables,
    ):
        for name, data in group().items():
            put(f"bad/{name}.raw.zst", data, 5)
    for name, data in unsupported().items():
        put(f"bad/{name}.raw.zst", data, 3)
    for name, data in signatures().items():
        put(f"bad/{name}.raw.zst", data, 5, "test.pub")
    lines += ["ok/gaps.raw.zst 5 test.pub -\n", "ok/signed_by_the_second.raw.zst 5 test.pub -\n"]
    (HERE / "manifest").write_text("".join(sorted(lines)))


if __name__ == "__main__":
    main()
