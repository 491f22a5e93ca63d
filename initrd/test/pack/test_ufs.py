# SPDX-License-Identifier: Apache-2.0
"""sledc pack and write of UFS1 and UFS2: made by makefs, aged by seed; in GPT, in slices, on bare disks.

$SLEDC, SEED. Prints TAP.
"""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "disks"), str(HERE.parent / "write"), str(HERE.parent / "c")]
from images import Image, expect, make_key, sledc, work  # noqa: E402
from tap import run_tests  # noqa: E402
from ufs import Ufs  # noqa: E402

SEED = int(os.environ.get("SEED", "1"))
MIB, SECTOR = 1 << 20, 512
SIZE = 8 * MIB
BLOCKS = ((4096, 512), (8192, 1024), (16384, 2048), (32768, 4096), (65536, 8192), (8192, 8192))
KINDS = [(version, order, blocks) for version in (1, 2) for order in ("le", "be") for blocks in BLOCKS]
PLACES = ("bare", "gpt", "freebsd", "netbsd", "openbsd", "label")
TYPES = {"freebsd": 0xA5, "netbsd": 0xA9, "openbsd": 0xA6}
UFS_TYPE = "516e7cb6-6ecf-11d6-8ff8-00022d09712b"
START, GAP, SWAP = MIB, 16 * SECTOR, MIB // 2
disk, target, image = work / "disk", work / "target", work / "image"


def make(version: int, order: str, blocks: tuple[int, int], draw: random.Random, size: int = SIZE) -> bytes:
    """With files of every length that needs another form: fragments, direct, indirect blocks."""
    root = work / "root"
    for number in range(60):
        path = root / f"folder{number % 5}" / f"file{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(draw.randbytes(draw.choice((0, 10, 600, 3000, 9000, 70000, 150000))))
    (root / "large").write_bytes(draw.randbytes(1500000))
    (root / "link").symlink_to("large")
    options = f"version={version},bsize={blocks[0]},fsize={blocks[1]},maxbpcg={2 * MIB // blocks[0]}"
    words = ["makefs", "-t", "ffs", "-B", order, "-s", str(size), "-o", options, work / "ufs", root]
    subprocess.run(words, check=True, capture_output=True)
    shutil.rmtree(root)
    return (work / "ufs").read_bytes()


def label(place: str, start: int, sectors: int, parts: list[tuple[int, int, int]]) -> bytes:
    """Of a slice: start and size within it, and type, of a, b, d, e and more. All numbers of sectors."""
    order = ">" if place == "label" else "<"
    first = 0 if place == "freebsd" else start // SECTOR
    whole = (0, sectors + 2 * start // SECTOR, 0) if place == "openbsd" else (first, sectors, 0)
    entries = [(first + at, size, kind) for at, size, kind in parts]
    entries.insert(2, whole)
    data = bytearray(148)
    struct.pack_into(order + "I", data, 0, 0x82564557)
    struct.pack_into(order + "I", data, 40, SECTOR)
    struct.pack_into(order + "IHH", data, 132, 0x82564557, 0, len(entries))
    for at, size, kind in entries:
        data += struct.pack(order + "IIIBBH", size, at, 2048, kind, 8, 0)
    total = 0
    for (word,) in struct.iter_unpack(order + "H", bytes(data)):
        total ^= word
    struct.pack_into(order + "H", data, 136, total)
    return bytes(data)


def mbr(kind: int, start: int, size: int) -> bytes:
    entry = struct.pack("<B3sB3sII", 0x80, b"", kind, b"", start // SECTOR, size // SECTOR)
    return b"\xfa" * 446 + entry.ljust(64, b"\0") + b"\x55\xaa"


def sliced(place: str, content: bytes, draw: random.Random) -> tuple[bytearray, int]:
    """A disklabel with a UFS, at the start of its slice or not, and swap behind it."""
    start = 0 if place == "label" else START
    gap = GAP if place in ("openbsd", "label") else 0
    size = gap + len(content) + SWAP
    found = bytearray(start) + bytes(gap) + content + draw.randbytes(SWAP)
    if start:
        found[:SECTOR] = mbr(TYPES[place], start, size)
        found += bytes(start)
    parts = [(gap // SECTOR, len(content) // SECTOR, 7), ((gap + len(content)) // SECTOR, SWAP // SECTOR, 1)]
    table = label(place, start, size // SECTOR, parts)
    found[start : start + SECTOR] = mbr(0xA5, 0, 50000 * SECTOR)  # as the boot code of FreeBSD has it
    found[start + SECTOR : start + SECTOR + len(table)] = table
    return found, start + gap


def put(place: str, content: bytes, draw: random.Random) -> tuple[bytearray, int]:
    """A disk, and the byte of the UFS in it."""
    if place == "bare":
        return bytearray(content), 0
    if place != "gpt":
        return sliced(place, content, draw)
    disk.write_bytes(bytes(START) + content + bytes(START))
    script = f"label: gpt\nstart={START // SECTOR}, size={len(content) // SECTOR}, type={UFS_TYPE}\n"
    words = ["sfdisk", "--quiet", "--wipe", "never", "--no-reread", "--no-tell-kernel", disk]
    subprocess.run(words, check=True, input=script, text=True, capture_output=True)
    return bytearray(disk.read_bytes()), START


def pack() -> tuple[Image, str]:
    """And what was said."""
    done = sledc("pack", f"in={disk}", f"out={image}", "level=1")
    expect(done, 0)
    return Image.read(image), "\n".join(line for line in done.stderr.splitlines() if not line.startswith("progress"))


def used_of(packed: Image) -> int:
    return 4096 * sum(chunk.used.bit_count() for chunk in packed.chunks)


def write(packed: Image, size: int, draw: random.Random) -> bytearray:
    """Onto random bytes."""
    target.write_bytes(draw.randbytes(size))
    words = [f"file={target}", f"image=file://{image}", f"digest={packed.digest}", *packed.signed, "gaps=keep"]
    expect(sledc("write", *words, "verify=full"), 0)
    return bytearray(target.read_bytes())


def there_and_back(number: int, kind: tuple[int, str, tuple[int, int]], place: str) -> None:
    draw = random.Random(f"{SEED}/{number}")
    data, start = put(place, make(*kind, draw), draw)
    made = Ufs(data, start)
    made.age(draw)
    files = made.files()
    disk.write_bytes(data)
    packed, said = pack()
    assert not said, said
    used = len(data) - made.free_bytes()
    assert used_of(packed) <= 1.1 * used, f"{used_of(packed)} bytes in the image, {used} in use"
    after = Ufs(write(packed, len(data), draw), start).files()
    lost = [name for name in files if after.get(name) != files[name]]
    assert not lost and len(after) == len(files) > 30, f"{len(lost)} of {len(files)} files differ: {lost[:5]}"


def test_disks() -> None:
    """Each kind, most of them twice, in all places."""
    for number, kind in enumerate((KINDS * 2)[:40]):
        place = PLACES[(number + number // len(PLACES)) % len(PLACES)]
        try:
            there_and_back(number, kind, place)
        except AssertionError as fault:
            raise AssertionError(f"disk {number} of seed {SEED}, {kind} {place}: {fault}") from fault


def kept_whole(data: bytes | bytearray, words: str) -> None:
    disk.write_bytes(data)
    packed, said = pack()
    assert "all of it is kept" in said and words in said, f"{words}: {said}"
    assert used_of(packed) == len(data), words


def changed(plain: bytes, at: int, value: int, form: str = "I") -> bytearray:
    data = bytearray(plain)
    Ufs(data).put(at, value, form)
    return data


def test_doubts() -> None:
    """What is not proven is kept whole, with the reason."""
    for version, order in ((1, "be"), (2, "le")):
        plain = make(version, order, BLOCKS[1], random.Random(SEED), 6 * MIB)
        u = Ufs(bytearray(plain))
        total, counts = u.super + (1008 + 8 if u.two else 192 + 4), u.group(1) + 24 + 4
        for at, form, value, words in (
            (u.super + 209, "B", 0, "not unmounted cleanly"),
            (u.super + 208, "B", 1, "not unmounted cleanly"),
            (u.super + 1312, "I", 1, "not unmounted cleanly"),
            (u.super + 1312, "I", 6, "not unmounted cleanly"),
            (u.super + 1104, "q", 8, "soft updates are not finished"),
            (u.super + 1112, "I", 1, "soft updates are not finished"),
            (u.super + 1116 + 4, "I", 17, "it has snapshots"),
            (u.super + 1312, "I", 0x40, "gjournal"),
            (u.super + 1312, "I", 0x1000000, "features that are not known"),
            (u.super + 48, "I", 12288, "impossible fields"),
            (u.super + 44, "I", u.groups + 1, "impossible fields"),
            (total, "q" if u.two else "I", 1, "than its superblock counts"),
            (counts, "I", u.get(counts) + 1, "than it counts (cylinder group 1)"),
            (u.summary * u.fragment + 16 + 12, "I", 9999, "than the list of groups counts"),
            (u.group(1) + 4, "I", 0, "its head is damaged (cylinder group 1)"),
            (u.group(1) + 12, "I", 0, "its head is damaged (cylinder group 1)"),
            (u.group(0) + u.get(u.group(0) + 96), "B", 1, "metadata as free (cylinder group 0)"),
        ):
            kept_whole(changed(plain, at, value, form), words)
        kept_whole(plain[: 5 * MIB], "it was cut off")


def test_label_of_another_time() -> None:
    """Behind a UFS that is longer than its partition is another one, which is whole, but only bytes of the first."""
    draw = random.Random(SEED)
    old, new = make(2, "le", BLOCKS[2], draw), bytearray(make(2, "le", BLOCKS[1], draw) * 2)
    new[SIZE:] = old
    u = Ufs(new)
    u.put(u.super + 1080, 2 * SIZE // u.fragment, "q")
    table = label("freebsd", 0, 2 * SIZE // SECTOR, [(0, SIZE // SECTOR, 7), (SIZE // SECTOR, SIZE // SECTOR, 7)])
    new[SECTOR : SECTOR + len(table)] = table
    kept_whole(new, "a partition of its disklabel is not proven")


if __name__ == "__main__":
    try:
        make_key()
        code = run_tests(globals())
    finally:
        shutil.rmtree(work)
    sys.exit(code)
