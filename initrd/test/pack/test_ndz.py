# SPDX-License-Identifier: Apache-2.0
"""sledc pack of files of imagezip (.ndz): the disk that they hold, and what is refused. $SLEDC, SEED. Prints TAP."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "c"))
import imagezip
from imagezip import SECTOR, Chunk
from tap import run_tests

SLEDC, SEED = os.environ["SLEDC"], os.environ.get("SEED", "1")
SECTORS = 8 << 11  # of the disk: 8 MiB
USED = [(0, 100), (2048, 1000), (4000, 1), (5000, 3000), (16000, 300)]
work = Path(tempfile.mkdtemp())
source, image = work / "disk.ndz", work / "image"


def disk_of(used: list[imagezip.Region], draw: random.Random, sectors: int = SECTORS) -> bytes:
    """A disk with an MBR, zeros where it is free, and bytes of which a half compress in what is used."""
    disk = bytearray(sectors * SECTOR)
    for start, size in used:
        disk[start * SECTOR : (start + size) * SECTOR] = draw.randbytes(size * SECTOR // 2) + bytes(size * SECTOR // 2)
    disk[446:512] = struct.pack("<B3sB3sII", 0, b"", 0x83, b"", 64, sectors - 64).ljust(64, b"\0") + b"\x55\xaa"
    return bytes(disk)


def pack(data: bytes, *words: str, way: str | None = None) -> subprocess.CompletedProcess[str]:
    source.write_bytes(data)
    image.unlink(missing_ok=True)
    environment = os.environ | ({"SLED_TEST_JAIL": way} if way else {})
    command = [SLEDC, "pack", f"in={source}", f"out={image}", "level=1", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)


def packed(data: bytes, **more: str) -> bytes:
    """The image of it."""
    done = pack(data, **more)
    assert done.returncode == 0, done.stderr
    return image.read_bytes()


def test_versions() -> None:
    for version in range(1, 6):
        # Version 1 does not tell how large the disk is, other than by its last region.
        disk = disk_of(USED, random.Random(SEED), SECTORS if version > 1 else 16300)
        data = imagezip.image(imagezip.plan(disk, USED, 1500), version)
        assert packed(data) == packed(disk), f"version {version}"
    assert packed(gzip.compress(data)) == packed(disk), "compressed"


def test_size_of_version_1() -> None:
    disk = disk_of(USED, random.Random(SEED))
    done = pack(imagezip.image(imagezip.plan(disk, USED, 1500), 1))
    assert done.returncode == 3 and "a partition reaches to sector 16384" in done.stderr, done.stderr


def test_ways() -> None:
    """It is read confined, whatever the kernel has for that, and not at all where it has nothing."""
    disk = disk_of(USED, random.Random(SEED))
    data = imagezip.image(imagezip.plan(disk, USED, 1500), 3)
    wanted = packed(disk)
    for way in ("landlock", "namespaces"):
        assert packed(data, way=way) == wanted, way
    done = pack(data, way="nothing")
    assert done.returncode == 3 and "not run unconfined" in done.stderr, done.stderr


def test_disks() -> None:
    """Regions and chunks of any size, by seed."""
    draw = random.Random(SEED)
    for number in range(20):
        cuts = sorted(draw.sample(range(1, SECTORS), 2 * draw.randint(1, 250)))
        used = [(0, 1)] + [(a, b - a) for a, b in zip(cuts[::2], cuts[1::2], strict=True)]
        disk = disk_of(used, draw)
        data = imagezip.image(imagezip.plan(disk, used, draw.randint(256, 1900)), draw.randint(2, 5))
        assert packed(data) == packed(disk), f"disk {number} of seed {SEED}"


def chunks() -> list[Chunk]:
    return imagezip.plan(disk_of(USED, random.Random(SEED)), USED, 1500)


def changed(index: int, version: int, change: Callable[[Chunk], object]) -> bytes:
    made = chunks()
    change(made[index])
    return imagezip.image(made, version)


def at(index: int, place: int, form: str, value: int, version: int = 3) -> bytes:
    """A file with another number in the header of a chunk."""
    data = bytearray(imagezip.image(chunks(), version))
    struct.pack_into(form, data, index * imagezip.CHUNK + place, value)
    return bytes(data)


def test_refused() -> None:
    good = imagezip.image(chunks(), 3)
    one = imagezip.CHUNK
    first = struct.pack("<IIII", 1, 1, 0, 276)
    cases: dict[str, tuple[bytes, str]] = {
        "cut": (good[:-1], "chunk 3 of 3 is cut off"),
        "cut header": (good[: 2 * one + 100], "chunk 3 of 3 is cut off"),
        "first lost": (good[one:], "chunk 1 of 2 states that 1 are before it"),
        "middle lost": (good[:one] + good[2 * one :], "chunk 2 of 2 states that 2 are before it"),
        "last lost": (imagezip.image(chunks(), 1)[:-one], "states that there are 3"),
        "magic": (at(1, 0, "<I", 0x12345678), "starts with 12345678, not with 6969696b"),
        "other version": (at(1, 0, "<I", imagezip.MAGIC), "starts with 69696969"),
        "version 6": (at(0, 0, "<I", imagezip.MAGIC + 5), "version 6, but versions 1 to 5 are read"),
        "encrypted": (changed(0, 4, lambda c: setattr(c, "cipher", 1)), "encrypted"),
        "signed": (changed(0, 4, lambda c: setattr(c, "signature", 0x8001)), "signed"),
        "other image": (at(1, 328, "<B", 99, 4), "chunk 2 of 3 is of another image"),
        "relocation": (changed(1, 3, lambda c: setattr(c, "relocations", first)), "(disklabel of FreeBSD)"),
        "unknown relocation": (at(0, 32, "<I", 1), "(unknown type)"),
        "header size": (at(1, 16, "<I", 1024), "has a header of 1024 bytes"),
        "no content": (at(1, 4, "<I", 0), "0 bytes of content"),
        "content overflows": (at(1, 4, "<I", one - 4095), f"{one - 4095} bytes of content"),
        "no region": (at(1, 20, "<i", 0), "0 regions"),
        "regions": (at(1, 20, "<i", 508), "508 regions"),
        "negative": (at(1, 20, "<i", -1), "4294967295 regions"),
        "empty region": (at(1, 40, "<I", 0), "impossible region: 0 sectors"),
        "huge region": (at(1, 80, "<Q", 1 << 63, 5), "impossible region"),
        "overflow": (at(1, 72, "<Q", (1 << 64) - 1, 5), "impossible region"),
        "outside": (at(2, 36, "<I", 16384), "outside of the disk: it ends at sector"),
        "out of order": (at(1, 36, "<I", 10), "out of order: it starts at sector 10"),
        "bounds": (at(1, 24, "<I", 5), "but must start at"),
        "bounds too large": (at(2, 48, "<Q", 1 << 60, 5), "is of the sectors from"),
    }
    for name, (data, words) in cases.items():
        done = pack(data)
        assert done.returncode == 3 and words in done.stderr, f"{name}: exit {done.returncode}: {done.stderr}"
        assert not image.exists(), name


def test_content() -> None:
    """Streams that are damaged, or hold more or less than the header says."""
    cases = {
        "less": (changed(1, 3, lambda c: setattr(c, "content", c.content[:-SECTOR])), "holds less"),
        "more": (changed(1, 3, lambda c: setattr(c, "content", c.content + bytes(SECTOR))), "holds more"),
        "not deflated": (at(1, 4096, "<I", 0xFFFFFFFF), "incorrect header check"),
        "cut": (at(1, 4, "<I", 1000), "it is cut off"),
        "followed": (at(1, 4, "<I", imagezip.CHUNK - 4096), "holds less"),
    }
    data = bytearray(imagezip.image(chunks(), 3))
    data[4096 + 5000] ^= 1
    cases["flipped"] = (bytes(data), "zlib does not read")
    for name, (bad, words) in cases.items():
        done = pack(bad)
        assert done.returncode == 1 and words in done.stderr, f"{name}: exit {done.returncode}: {done.stderr}"
        assert not image.exists(), name


def test_limit() -> None:
    """A file of 1 MiB may announce any disk."""
    data = at(2, 28, "<I", 0xFFFFFFFF)
    done = pack(data, f"limit={1 << 40}")
    assert done.returncode == 3 and "limit=" in done.stderr, done.stderr


if __name__ == "__main__":
    try:
        code = run_tests(globals())
    finally:
        shutil.rmtree(work)
    sys.exit(code)
