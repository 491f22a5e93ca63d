# SPDX-License-Identifier: Apache-2.0
"""Makes the binary seeds in corpus/ again: corpus.py DIRECTORY. They are committed; run it when a format changes."""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path

SECTOR = 512  # bytes; the disk of fuzz_table.c has 1,024 of them


def gpt() -> bytes:
    """A protective MBR, header and four entries, two of them used."""
    entries = b""
    for start, end in ((64, 127), (128, 255)):
        entries += b"\x11" * 32 + struct.pack("<QQQ", start, end, 0) + bytes(72)
    entries += bytes(256)
    header = struct.pack(
        "<8s4sIIIQQQQ16sQIII", b"EFI PART", b"\0\0\1\0", 92, 0, 0, 1, 1023, 34, 990, b"g" * 16, 2, 4, 128, zlib.crc32(entries)
    )
    header = header[:16] + struct.pack("<I", zlib.crc32(header)) + header[20:]
    return mbr((0xEE, 1, 1023)) + header.ljust(SECTOR, b"\0") + entries


def mbr(*partitions: tuple[int, int, int]) -> bytes:
    """A first sector with those (type, start, count)."""
    table = b"".join(struct.pack("<B3sB3sII", 0, b"", kind, b"", start, count) for kind, start, count in partitions)
    return bytes(446) + table.ljust(64, b"\0") + b"\x55\xaa"


def zstd() -> bytes:
    """Two frames of one run-length block each (a checksum-less MiB of zeros, then "a"), and a skippable one."""

    def frame(byte: bytes, size: int) -> bytes:
        block = (size << 3 | 1 << 1 | 1).to_bytes(3, "little")
        return b"\x28\xb5\x2f\xfd" + b"\x00\x58" + block + byte

    return frame(b"\0", 1 << 17) + frame(b"a", 5) + b"\x50\x2a\x4d\x18\x03\0\0\0abc"


def main(directory: Path) -> None:
    """Writes every seed."""
    seeds = {
        "table/gpt": gpt(),
        "table/mbr": mbr((0x83, 64, 100), (0x0C, 200, 100)),
        "table/extended": mbr((0x83, 64, 100), (0x05, 200, 100)),
        "zstd/frames": zstd(),
        "zstd/cut": zstd()[:8],
    }
    for name, data in seeds.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(data)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
