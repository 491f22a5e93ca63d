# SPDX-License-Identifier: Apache-2.0
"""Disks with odd tables, seeded: what an image leaves out is free for util-linux too, which reads tables by itself.

$SLEDC, $SLED_VECTORS; DISKS, SEED; disks with a fault are copied to the folder KEEP. Prints TAP.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import zstandard

VECTORS = Path(os.environ["SLED_VECTORS"])
sys.path[:0] = [str(Path(__file__).parents[1] / "c"), str(VECTORS / "disk"), str(VECTORS.parent / "reader")]
import image  # noqa: E402
from disk import swap  # noqa: E402
from tap import run_tests  # noqa: E402

SLEDC, DISKS, SEED = os.environ["SLEDC"], int(os.environ.get("DISKS", "200")), os.environ.get("SEED", "1")
GRANULE, MIB, SECTOR = 4096, 1 << 20, 512
EXTENDED = ("0x5", "0xf", "0x85")  # an extended partition has no content but the logical ones, which are listed too
TYPES = (0, 0x05, 0x07, 0x0C, 0x0F, 0x15, 0x42, 0x82, 0x82, 0x82, 0x83, 0x85, 0xA5, 0xEE, 0xEF)
work = Path(tempfile.mkdtemp())
disk, made = work / "disk", work / "image"


def place(draw: random.Random, sectors: int) -> int:
    """A number of a sector, as odd as they come."""
    return draw.choice(
        (0, 1, 63, 64, 2048, 4096, 6144, 8192, draw.randrange(sectors), draw.randrange(sectors) // 8 * 8, sectors - 1,
         sectors, 2**32 - 1)
    )  # fmt: skip


def change_entry(data: bytearray, draw: random.Random) -> None:
    """One field of an entry of an MBR, or of a link of a chain."""
    sectors = len(data) // SECTOR
    tables = [at for at in range(0, len(data), SECTOR) if data[at + 510 : at + 512] == b"\x55\xaa"] or [0]
    entry = draw.choice(tables) + 446 + 16 * draw.randrange(4)
    field = draw.randrange(8)
    if field < 2:
        data[entry + 4] = draw.choice(TYPES)
    elif field < 4:
        struct.pack_into("<I", data, entry + 8, place(draw, sectors))
    elif field < 6:
        struct.pack_into("<I", data, entry + 12, place(draw, sectors))
    elif field < 7:
        struct.pack_into("<BxxxBxxxII", data, entry, 0, draw.choice(TYPES), place(draw, sectors), 2048)
    else:
        data[entry] = draw.choice((0, 0x80, 1))


def change_gpt(data: bytearray, draw: random.Random) -> None:
    """The place of a partition, in both copies or in one."""
    row, first, last = draw.randrange(3), place(draw, len(data) // SECTOR), place(draw, len(data) // SECTOR)
    for own, entries in ((SECTOR, 2 * SECTOR), (len(data) - SECTOR, len(data) - 33 * SECTOR)):
        if data[own : own + 8] != b"EFI PART" or draw.random() < 0.2:
            continue
        kind = bytes.fromhex("af3dc60f838472478e793d69d8477de4")
        struct.pack_into("<16s16sQQ", data, entries + row * 128, kind, bytes([row + 1]) * 16, first, last)
        struct.pack_into("<I", data, own + 88, zlib.crc32(data[entries : entries + 128 * 128]))
        struct.pack_into("<I", data, own + 16, 0)
        struct.pack_into("<I", data, own + 16, zlib.crc32(data[own : own + 92]))


def change(data: bytearray, draw: random.Random) -> None:
    """One thing."""
    kind, at = draw.randrange(10), place(draw, len(data) // SECTOR) * SECTOR % len(data)
    if kind < 5:
        change_entry(data, draw)
    elif kind < 7:
        change_gpt(data, draw)
    elif kind < 8:  # a swap, or what is left of one
        data[at : at + GRANULE] = swap(draw.randrange(1, 4) * MIB)[: len(data) - at]
    elif kind < 9:
        size = min(draw.choice((SECTOR, GRANULE, 200_000)), len(data) - at)
        data[at : at + size] = b"somethin" * (size // 8)
    else:
        data[at : at + SECTOR] = bytes(SECTOR)


def used() -> tuple[int, set[int], list[tuple[int, int, str]]]:
    """Of the image: sector size, granules, and partitions as start, bytes, content."""
    granules: set[int] = set()
    with made.open("rb") as file:
        index = image.open_image(file)
        for chunk in index.chunks:
            granules |= {(chunk.offset + start) // GRANULE for is_used, start, _ in chunk.granules() if is_used}
    done = subprocess.run([SLEDC, "inspect", f"in={made}", "json=yes"], capture_output=True, check=True)
    parts = [(p["start"], p["bytes"], p["content"]) for p in json.loads(done.stdout)["partitions"]]
    return index.sector, granules, parts


def regions(sector: int) -> list[tuple[int, int]]:
    """The partitions that util-linux finds, or the whole disk if there is no table."""
    words = ["partx", "--show", "--noheadings", "-o", "START,SECTORS,TYPE", "--sector-size", str(sector), disk]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    rows = [line.split() for line in done.stdout.splitlines()]
    found = [(int(a) * SECTOR, int(b) * SECTOR) for a, b, kind in rows if kind not in EXTENDED]
    return found or [(0, disk.stat().st_size)]


def content(start: int, size: int) -> dict[str, str]:
    """What blkid finds there."""
    words = ["blkid", "-p", "-o", "export", "-O", str(start), "-S", str(size), disk]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)


def check(name: str, data: bytes) -> str:
    """Packs the disk; the first fault, or an empty text."""
    disk.write_bytes(data)
    command = [SLEDC, "pack", f"in={disk}", f"out={made}", "level=1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode:
        return "" if done.returncode == 3 else f"{name}: exit {done.returncode}: {done.stderr}"
    sector, granules, parts = used()
    lost = [g for g in range(len(data) // GRANULE) if g not in granules and any(data[g * GRANULE : (g + 1) * GRANULE])]
    for start, size in regions(sector):
        inside = [g for g in lost if start <= g * GRANULE < start + size]
        if not inside:
            continue
        lost = [g for g in lost if g not in inside]
        found = content(start, min(size, len(data) - start))
        if found.get("TYPE") not in ("swap", "ext2", "vfat") or "PTTYPE" in found:
            return f"{name}: {len(inside)} granules from {inside[0]} are lost, in {start}+{size}: {found}; {parts}"
    if lost:
        return f"{name}: {len(lost)} granules from {lost[0]} are lost, outside of partitions; image has {parts}"
    return ""


def test_sector_size_is_asked_for() -> None:
    """An MBR whose partition has something with sectors of either size."""
    data = bytearray(16 * MIB)
    struct.pack_into("<BxxxBxxxII", data, 446, 0, 0x82, 256, 512)
    data[510:512] = b"\x55\xaa"
    data[256 * SECTOR : 256 * SECTOR + GRANULE] = swap(512 * SECTOR)
    data[256 * GRANULE : 256 * GRANULE + GRANULE] = swap(512 * GRANULE)
    disk.write_bytes(data)
    for words, code, wanted in (
        ((), 3, "state which it has with sector="),
        (("sector=512",), 0, ""),
        (("sector=4096",), 0, ""),
    ):
        command = [SLEDC, "pack", f"in={disk}", f"out={made}", "level=1", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == code and wanted in done.stderr, f"{words}: exit {done.returncode}: {done.stderr}"
        assert code or used()[0] == int(words[0].removeprefix("sector=")), words


def test_odd_disks() -> None:
    draw = random.Random(SEED)
    sources = sorted((VECTORS / "disk").glob("*.zst"))
    faults = []
    packed = 0
    for number in range(DISKS):
        source = draw.choice(sources)
        data = bytearray(zstandard.ZstdDecompressor().decompress(source.read_bytes()))
        if len(data) > 16 * MIB:
            continue
        for _ in range(draw.choice((1, 1, 2, 3, 5))):
            change(data, draw)
        made.unlink(missing_ok=True)
        fault = check(f"disk {number} of seed {SEED}, from {source.name}", bytes(data))
        packed += made.exists()
        if fault:
            faults.append(fault)
            if "KEEP" in os.environ:
                shutil.copy(disk, Path(os.environ["KEEP"]) / f"{SEED}-{number}")
    print(f"# {DISKS} disks, seed {SEED}: {packed} packed")
    assert packed > DISKS // 3, "most are refused"
    assert not faults, "\n".join(faults[:20])


if __name__ == "__main__":
    try:
        code = run_tests(globals())
    finally:
        shutil.rmtree(work)
    sys.exit(code)
