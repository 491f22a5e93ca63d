# SPDX-License-Identifier: Apache-2.0
"""Nothing that an image keeps is lost on the way to a full disk: odd disks are packed and written onto a larger one.

Then the partition grows, in the installed system too; its filesystem grows and is filled. As root: test_growth.py
[WORD...], cases with these words in their names; $SLEDC. Prints TAP.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "disks"), str(HERE.parent / "write"), str(HERE.parent / "c")]
import images  # noqa: E402
from disks import loop, make, mounted, run  # noqa: E402

MIB, SECTOR = 1 << 20, 512
SOURCE, TARGET = 64 * MIB, 128 * MIB
LARGE = 288 * MIB  # a btrfs of less than 256 MiB cannot be resized
START, SIZE = 2 * MIB, 24 * MIB  # of the first partition, and of all filesystems
HELD = images.noise(7, MIB)  # what is kept somewhere, and must not be lost
COPY = 33 * SECTOR
MOUNTED = ("ext2", "ext4", "xfs", "btrfs")  # what every kernel can fill
GROWING = (*MOUNTED, "fat16", "ntfs", "exfat", "lvm")
STAYING = ("swap", "luks", "raid", "data")
OPTIONS = {
    "xfs": ["--unsupported"],
    "btrfs": ["-M"],
    "ext2": ["-b", "4096"],
}
work = images.work
cache: dict[str, bytes] = {}


@dataclass
class Case:
    """A disk, and what must become of its partition that ends last."""

    name: str
    kinds: tuple[str, ...]  # of the partitions, one behind the other
    size: int = SIZE  # of each of them; a filesystem has SIZE
    table: str = "gpt"
    held: tuple[int, ...] = ()  # where the disk has more: offsets
    end: int | None = None  # of the last partition afterwards; None: as far as the target goes
    fixed: bool = False  # nothing may grow it later
    says: str = ""
    target: int = TARGET
    made: int = SOURCE  # bytes that the disk had when its table was made
    change: list[str] = field(default_factory=list)  # names of functions that change the source


def content(kind: str) -> bytes:
    """The first SIZE bytes of a partition."""
    if kind not in cache:
        path = work / kind
        path.write_bytes(b"")
        os.truncate(path, SIZE)
        if kind == "data":
            path.write_bytes(images.noise(9, SIZE))
        elif kind == "swap":
            run("mkswap", "-q", path)
        elif kind == "fat16":
            run("mkfs.vfat", "-F", "16", "-s", "1", path)
        elif kind != "zeros":
            with loop(path) as device:
                make({"raid": "ext4"}.get(kind, kind), device, SIZE, SECTOR, 1, *OPTIONS.get(kind, []))
        data = bytearray(path.read_bytes())
        if kind == "raid":  # the superblock of metadata 1.0
            data[-8192:-8188] = (0xA92B4EFC).to_bytes(4, "little")
        cache[kind] = bytes(data)
    return cache[kind]


def starts(case: Case) -> list[int]:
    """Of the partitions."""
    return [START + i * (case.size + 2 * MIB) for i in range(len(case.kinds))]


def put(path: Path, at: int, data: bytes) -> None:
    """These bytes, there."""
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def get(path: Path, at: int, size: int) -> bytes:
    """What is there."""
    with path.open("rb") as file:
        file.seek(at)
        return file.read(size)


def make_source(case: Case) -> Path:
    """The disk, with its files in the filesystems that can be mounted."""
    path = work / "source"
    path.unlink(missing_ok=True)
    path.touch()
    os.truncate(path, case.made if case.table != "none" else SOURCE)
    lines = [f"label: {case.table}", "unit: sectors"]
    lines += [f"start={at // SECTOR}, size={case.size // SECTOR}, type=linux" for at in starts(case)]
    if case.table == "none":
        put(path, 0, content(case.kinds[0]))
    else:
        run("sfdisk", "--quiet", path, input="\n".join(lines) + "\n")
        os.truncate(path, SOURCE)
        for at, kind in zip(starts(case), case.kinds, strict=True):
            put(path, at, content(kind))
    for change in case.change:
        globals()[change](path)
    for at in case.held:
        put(path, at, HELD[: min(MIB, SOURCE - at)])
    for at, _ in mountable(path, case):
        with loop(path, SECTOR, at, case.size) as device, mounted("", device) as root:
            (root / "file").write_bytes(HELD)
    return path


def mountable(path: Path, case: Case) -> Iterator[tuple[int, str]]:
    """Start and content of the filesystems."""
    if case.table == "none":
        yield 0, case.kinds[0]
        return
    for at, kind in zip(starts(case), case.kinds, strict=True):
        if kind in MOUNTED:
            yield at, kind


def parts(disk: Path) -> list[tuple[int, int]]:
    """Start and end of each partition, as util-linux has them."""
    found = json.loads(run("sfdisk", "--json", disk))["partitiontable"].get("partitions", [])
    return [(part["start"] * SECTOR, (part["start"] + part["size"]) * SECTOR) for part in found]


def grow_as_cloud_init(disk: Path) -> None:
    """Each partition as far as the next one starts: growpart."""
    for number in range(1, len(parts(disk)) + 1):
        subprocess.run(["sfdisk", "--quiet", "--no-reread", "-N", str(number), disk], input=", +\n", text=True,
                       capture_output=True, check=False)  # fmt: skip


def fill(disk: Path, at: int, end: int, kind: str) -> None:
    """Grows the filesystem to the end of its partition, writes until nothing fits, and compares its file."""
    with loop(disk, SECTOR, at, end - at) as device:
        if kind.startswith("ext"):
            run("resize2fs", "-f", device)
        with mounted("", device) as root:
            if kind == "xfs":
                run("xfs_growfs", root)
            elif kind == "btrfs":
                run("btrfs", "filesystem", "resize", "max", root)
            try:
                with (root / "all").open("wb", buffering=0) as file:
                    while file.write(b"\xee" * MIB):
                        pass
            except OSError:
                pass
            run("sync", "-f", root)
        with mounted("", device) as root:
            assert (root / "file").read_bytes() == HELD, f"the file in {kind} has changed"


def write(case: Case, image: images.Image) -> tuple[Path, str]:
    """Onto the target. Returns what `grow` says."""
    disk, kept = work / "target", {"SLED_TEST_DISK": str(work / "target"), "SLED_KEPT": str(work / "kept")}
    disk.write_bytes(b"\xa5" * case.target)
    words = images.write_words(f"file://{image.path}", image)
    images.expect(images.sledc(*words, **kept), 0)
    verify(image, disk)
    grown = images.sledc("grow", "disk=only", **kept)
    images.expect(grown, 0)
    verify(image, disk)
    images.expect(again := images.sledc("grow", "disk=only", **kept), 0)
    assert "has grown to 1" not in again.stdout.replace(" only", ""), f"it grows twice: {again.stdout}"
    return disk, grown.stdout


def verify(image: images.Image, disk: Path) -> None:
    """The disk holds the image."""
    images.expect(images.sledc("verify", f"in={image.path}", f"file={disk}"), 0)


def compare_used(image: images.Image, source: Path, disk: Path, at: int, kind: str) -> None:
    """The bytes of a partition that are in the image."""
    for chunk in image.chunks:
        for start, end in chunk.runs(SOURCE):
            if at <= start and end <= at + SIZE:
                assert get(disk, start, end - start) == get(source, start, end - start), f"{kind} has changed"


def check(case: Case) -> None:
    """One disk, from pack to the last free byte."""
    source = make_source(case)
    image = images.pack(source)
    disk, said = write(case, image)
    if case.table != "none":
        room = case.target - MIB if case.table.startswith("gpt") else case.target
        end = max(end for _, end in parts(disk))
        assert end == (room if case.end is None else case.end), f"it ends at {end / MIB} MiB: {said}"
    assert case.says in said, f"no {case.says!r} in {said!r}"
    assert ("fixed" in said.split("\n")) == case.fixed, said
    if not case.fixed and case.table != "none":
        grow_as_cloud_init(disk)
    ends = dict(parts(disk)) if case.table != "none" else {0: case.target}
    for at, kind in mountable(source, case):
        if not case.fixed:
            fill(disk, at, ends[at], kind)
    for at, kind in zip(starts(case), case.kinds, strict=True):
        if case.table != "none" and kind not in MOUNTED:
            compare_used(image, source, disk, at, kind)
    for at in case.held:
        size = min(MIB, SOURCE - at)
        assert get(disk, at, size) == get(source, at, size), f"what is kept at {at / MIB} MiB is lost: {said}"


def cases() -> Iterator[Case]:
    """Contents and tables, with something behind the partition, in its last granule, or in it behind the filesystem."""
    end, words = START + SIZE, "the image keeps bytes behind"
    for table, kinds in (("gpt", GROWING), ("dos", (*MOUNTED, "fat16", "lvm"))):
        for kind in kinds:
            name = f"{table}, {kind}"
            yield Case(name, (kind,), table=table, target=LARGE if kind == "btrfs" else TARGET)
            why = f"has grown to byte {40 * MIB} only: {words} it, from byte {40 * MIB + 4096} on"
            yield Case(f"{name}, behind", (kind,), SIZE, table, (40 * MIB + 4096,), 40 * MIB, True, why)
            yield Case(f"{name}, directly behind", (kind,), table=table, held=(end,), end=end, fixed=True, says=words)
            # a physical volume is kept whole
            why = f"{words} its filesystem, from byte {START + (24 if kind == 'lvm' else 28) * MIB} on"
            yield Case(f"{name}, within", (kind,), 32 * MIB, table, (START + 28 * MIB,), START + 32 * MIB, True, why)
    for kind in STAYING:
        for table in ("gpt", "dos"):
            why = "swap has the size in its header" if kind == "swap" else "something may be at its end"
            yield Case(f"{table}, {kind}", (kind,), table=table, end=end, says=why)
            yield Case(f"{table}, {kind}, behind", (kind,), table=table, held=(44 * MIB,), end=end, says=why)
    yield from odd()


def odd() -> Iterator[Case]:
    """What is no matrix."""
    second = START + SIZE + 2 * MIB
    yield Case("a swap behind the root", ("ext4", "swap"), end=second + SIZE, says="last 2 swap")
    yield Case("a gap with something", ("ext4", "ext4"), held=(START + SIZE,), fixed=True)
    yield Case("a gap with something, and behind", ("xfs", "btrfs"), held=(START + SIZE, 60 * MIB), end=60 * MIB,
               fixed=True)  # fmt: skip
    yield Case("two filesystems", ("ext4", "xfs"))
    yield Case("no table, ext4", ("ext4",), table="none", held=(30 * MIB,), fixed=True)
    yield Case("no table, ext4 alone", ("ext4",), table="none")
    yield Case("in place of the copy of the GPT", ("ext4",), held=(SOURCE - COPY,), end=63 * MIB, fixed=True)
    yield Case("in place of the copy of the GPT, same size", ("ext4",), held=(SOURCE - COPY,), end=START + SIZE,
               fixed=True, target=SOURCE, says="where the copy of its GPT belongs")  # fmt: skip
    yield Case("a byte before the copy", ("ext4",), change=["byte_before_copy"], end=63 * MIB, fixed=True)
    yield Case("the copy in the middle", ("ext4",), made=40 * MIB)
    yield Case("the copy in the middle, same size", ("ext4",), made=40 * MIB, target=SOURCE)
    yield Case("the same size", ("ext4",), target=SOURCE)
    yield Case("the same size, behind", ("ext4",), target=SOURCE, held=(50 * MIB,), end=50 * MIB, fixed=True)
    yield Case("a dynamic disk of Windows", ("data",), change=["dynamic"], end=START + SIZE, says="does not describe")
    yield Case("a hybrid MBR", ("ext4",), change=["hybrid"], end=44 * MIB, fixed=True)


def byte_before_copy(path: Path) -> None:
    """In the granule in which it starts."""
    put(path, SOURCE - COPY - 1, b"\x01")


def dynamic(path: Path) -> None:
    """Its type is that of the Logical Disk Manager."""
    run("sgdisk", "--typecode=1:AF9B60A0-1431-4F62-BC68-3311714A69AD", path)


def hybrid(path: Path) -> None:
    """An entry of the MBR beside the GPT, at 44 MiB."""
    entry = bytes((0, 0, 2, 0, 0x83, 0, 0, 0)) + (44 * MIB // SECTOR).to_bytes(4, "little") + bytes((0, 8, 0, 0))
    put(path, 446 + 16, entry)


def main() -> int:
    """Every case, as TAP."""
    images.make_key()
    chosen = [case for case in cases() if all(word in case.name for word in sys.argv[1:])]
    tests = {f"test_{case.name}": (lambda case=case: check(case)) for case in chosen}
    return images.run_tests(tests)


if __name__ == "__main__":
    random.seed(1)
    tempfile.tempdir = str(work)
    sys.exit(main())
