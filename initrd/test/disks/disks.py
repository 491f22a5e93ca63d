# SPDX-License-Identifier: Apache-2.0
"""Disks to test images with: every filesystem, filled and partly emptied again, over junk; tables of every kind.

usage, as root: disks.py FILE TABLE SECTOR KIND...

TABLE: gpt, mbr, logical (MBR, all but the first in an extended partition) or none; SECTOR: 512 or 4096
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import btrfs

MIB = 1 << 20
GRANULE = 4096
BLKFLSBUF = 0x1261  # linux/fs.h
UUID = "5ed00000-0000-4000-8000-0000000000{:02}"
NOISE = memoryview(random.Random(0).randbytes(MIB) * 2)  # does not compress, from wherever it is read
# Smallest size, in MiB, with which each is usual.
KINDS = {
    "ext2": 48, "ext3": 48, "ext4": 64, "xfs": 320, "btrfs": 160, "f2fs": 104, "ntfs": 64, "fat12": 8,
    "fat16": 32, "fat32": 64, "exfat": 48, "swap": 32, "lvm": 16, "luks": 24, "data": 4, "empty": 8,
}  # fmt: skip
# As the index names them.
CONTENT = {"fat12": "fat", "fat16": "fat", "fat32": "fat", "empty": "data"}
NO_WAIT = ("-f", "0")  # partclone's end waits for the thread that shows progress, which else sleeps for two seconds
TOOL = {"fat12": "fat", "fat16": "fat", "fat32": "fat"}
WHOLE = ("lvm", "luks", "data", "empty")
FILESYSTEMS = tuple(kind for kind in KINDS if kind not in (*WHOLE, "swap"))


def run(*words: str | Path, **options: str) -> str:
    """Runs a program; what it says is part of the fault."""
    done = subprocess.run(
        [str(w) for w in words], capture_output=True, text=True, check=False, input=options.get("input"), timeout=600
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(str(w) for w in words)}: exit {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def noise(numbers: random.Random, size: int) -> memoryview:
    """Up to 1 MiB, in practice never the same twice. Drawing each byte would take most of a test's time."""
    at = numbers.randrange(MIB)
    return NOISE[at : at + size]


def junk(path: Path, size: int, seed: int) -> None:
    """A file of bytes that cannot be mistaken for zeros."""
    numbers = random.Random(seed)
    with path.open("wb") as file:
        for at in range(0, size, MIB):
            file.write(noise(numbers, min(MIB, size - at)))


@contextlib.contextmanager
def loop(path: Path, sector: int = 512, start: int = 0, size: int = 0) -> Iterator[str]:
    """A loop device over the file, or over a part of it."""
    part = ["-o", str(start), "--sizelimit", str(size)] if size else []
    device = run("losetup", "-b", str(sector), *part, "-f", "--show", path).strip()
    held = os.open(device, os.O_RDONLY)
    try:
        # While it is open, the kernel only marks it to go with its last user: a killed test leaves none behind.
        run("losetup", "-d", device)
        yield device
    finally:
        # The last user may be a stranger who looks at each device. What was written must be in the file before that.
        fcntl.ioctl(held, BLKFLSBUF)
        os.close(held)


def fill(root: Path, size: int, seed: int) -> dict[str, str]:
    """Files of many sizes, up to about a third of `size`; then every second one is removed.

    Names and hashes of those that stay.
    """
    numbers = random.Random(seed)
    names: list[str] = []
    written = 0
    while written < size // 3:
        name = f"folder{len(names) % 5}/file{len(names)}"
        data = bytes(noise(numbers, numbers.choice((100, 5000, 70000, 900000))))
        if len(names) % 3 == 0:
            data = data[:64] * (len(data) // 64)
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(data)
        names.append(name)
        written += len(data)
    run("sync", "-f", root)
    for name in names[::2]:
        (root / name).unlink()
    return {name: hashlib.sha256((root / name).read_bytes()).hexdigest() for name in names[1::2]}


@contextlib.contextmanager
def mounted(kind: str, device: str | Path, options: str = "rw") -> Iterator[Path]:
    """The filesystem under a folder: by the kernel, or in user space where it is for FAT's heirs."""
    root = Path(tempfile.mkdtemp())
    words: dict[str, list[str]] = {"ntfs": ["ntfs-3g", "-o", options], "exfat": ["mount.exfat-fuse", "-o", options]}
    run(*words.get(kind, ["mount", "-o", options]), device, root)
    try:
        yield root
    finally:
        run("umount", root)
        root.rmdir()


def make(kind: str, device: str, size: int, sector: int, number: int, *options: str) -> None:
    """mkfs, such that what lay there before stays in the free blocks."""
    uuid = UUID.format(number)
    small = ["-s", "1"] if sector == 4096 else []  # sectors of a cluster
    word: dict[str, list[str]] = {
        "ext2": ["mke2fs", "-q", "-F", "-E", "nodiscard", "-t", "ext2", "-U", uuid],
        "ext3": ["mke2fs", "-q", "-F", "-E", "nodiscard", "-t", "ext3", "-U", uuid],
        "ext4": ["mke2fs", "-q", "-F", "-E", "nodiscard,lazy_itable_init=1", "-t", "ext4", "-U", uuid],
        "xfs": ["mkfs.xfs", "-q", "-f", "-K", "-m", f"uuid={uuid}"],
        "btrfs": ["mkfs.btrfs", "-q", "-f", "-K", "-U", uuid],
        "f2fs": ["mkfs.f2fs", "-q", "-f", "-t", "0"],
        "ntfs": ["mkfs.ntfs", "-q", "-F", "-Q", "-s", str(sector), "-p", "0", "-H", "0", "-S", "0"],
        "fat12": ["mkfs.vfat", "-F", "12", *small, "-S", str(sector)],
        "fat16": ["mkfs.vfat", "-F", "16", *small, "-S", str(sector)],
        "fat32": ["mkfs.vfat", "-F", "32", "-s", "1", "-S", str(sector)],
        "exfat": ["mkfs.exfat"],
        "swap": ["mkswap", "-q", "-U", uuid],
        "lvm": [
            "pvcreate",
            "-q",
            "-ff",
            "-y",
            "--config",
            'devices { filter=["a|.*|"] scan_lvs=0 }',
            "--devices",
            device,
        ],
        "luks": [
            "cryptsetup",
            "-q",
            "luksFormat",
            "--pbkdf",
            "pbkdf2",
            "--pbkdf-force-iterations",
            "1000",
            "--key-file",
            "/etc/hostname",
        ],
    }
    if kind in word:
        run(*word[kind], *options, device)


def fill_fat(device: str, size: int, seed: int) -> dict[str, str]:
    """As fill, by mtools: kernels without vfat are common in machines of build farms."""
    with tempfile.TemporaryDirectory() as folder:
        kept = fill(Path(folder), min(size, 24 * MIB), seed)
        run("mcopy", "-s", "-Q", "-i", device, *sorted(Path(folder).iterdir()), "::")
        gone = sorted(kept)[::3]
        for name in gone:
            run("mdel", "-i", device, f"::{name}")
        return {name: digest for name, digest in kept.items() if name not in gone}


def fill_f2fs(device: str, size: int, seed: int) -> dict[str, str]:
    """As fill, by sload."""
    with tempfile.TemporaryDirectory() as folder:
        kept = fill(Path(folder), min(size // 2, 24 * MIB), seed)
        run("sload.f2fs", "-f", folder, device)
        return kept


def make_content(kind: str, path: Path, size: int) -> dict[str, str]:
    """One partition's content in a file of its own. Returns the files that are in it."""
    junk(path, size, 1)
    return put_content(path, Part(kind, 0, size, {}))


def put_content(path: Path, part: Part, sector: int = 512, number: int = 1) -> dict[str, str]:
    """The content of one partition of a disk full of junk. Returns the files that are in it."""
    kind, size = part.kind, part.size
    if kind == "empty":
        with path.open("r+b") as disk:
            disk.seek(part.start)
            disk.write(bytes(size))
    with loop(path, sector, part.start, size) as device:
        make(kind, device, size, sector, number)
        if kind.startswith("fat"):
            return fill_fat(device, size, number) if sector == 512 else {}  # mtools knows no other sectors
        if kind == "f2fs":
            return fill_f2fs(device, size, number)
        if kind in FILESYSTEMS:
            with mounted(kind, device) as root:
                return fill(root, min(size, 96 * MIB), number)
    return {}


@dataclass
class Part:
    """Where a partition is, and what is in it."""

    kind: str
    start: int
    size: int
    files: dict[str, str]


def script(table: str, sector: int, parts: list[Part]) -> str:
    """For sfdisk, with names and numbers that do not change from run to run."""
    kind = "gpt" if table == "gpt" else "dos"
    lines = [f"label: {kind}", f"label-id: {UUID.format(0) if kind == 'gpt' else '0x5ed00000'}", "unit: sectors"]
    for i, part in enumerate(parts):
        if table == "logical" and i == 1:
            lines.append(f"start={(part.start - MIB) // sector}, type=f")
        lines.append(
            f"start={part.start // sector}, size={part.size // sector}"
            + (f", uuid={UUID.format(i + 1)}" if kind == "gpt" else "")
        )
    return "\n".join(lines) + "\n"


def make_disk(path: Path, table: str, sector: int, kinds: list[str], size: int = 0) -> list[Part]:
    """A disk with those partitions, each 1 MiB behind the one before, over junk."""
    parts: list[Part] = []
    at = 0 if table == "none" else MIB
    for kind in kinds:
        parts.append(Part(kind, at, KINDS[kind] * MIB, {}))
        at += KINDS[kind] * MIB + (2 * MIB if table == "logical" else MIB)
    junk(path, max(size, at if table != "none" else parts[0].size), 99)
    if table != "none":
        with path.open("r+b") as disk:
            disk.write(bytes(MIB))
        with loop(path, sector) as device:
            run(
                "sfdisk",
                "--quiet",
                "--wipe",
                "never",
                "--no-reread",
                "--no-tell-kernel",
                device,
                input=script(table, sector, parts),
            )
    for number, part in enumerate(parts):
        part.files = put_content(path, part, sector, number + 1)
    return parts


def cut(path: Path, part: Part) -> contextlib.AbstractContextManager[str]:
    """One partition of a raw disk as a device of its own; a short one of a disk that is too short."""
    return loop(path, 512, part.start, part.size)


def check_content(part: Part, device: str) -> None:
    """The filesystem's own check, and that every file is there as it was written."""
    words: dict[str, list[str]] = {
        "ext2": ["e2fsck", "-fn"], "ext3": ["e2fsck", "-fn"], "ext4": ["e2fsck", "-fn"], "xfs": ["xfs_repair", "-n"],
        "btrfs": ["btrfs", "check", "--readonly", "--check-data-csum"], "f2fs": ["fsck.f2fs", "--dry-run"],
        "ntfs": ["ntfsfix", "-n"], "fat12": ["fsck.fat", "-n"],
        "fat16": ["fsck.fat", "-n"], "fat32": ["fsck.fat", "-n"], "exfat": ["fsck.exfat", "-n"],
    }  # fmt: skip
    if part.kind in words:
        run(*words[part.kind], device)
    if part.kind.startswith("fat"):
        for name, digest in part.files.items():
            data = subprocess.run(["mtype", "-i", device, f"::{name}"], capture_output=True, check=True).stdout
            assert hashlib.sha256(data).hexdigest() == digest, f"{part.kind}: {name}"
    elif part.kind in FILESYSTEMS and part.kind != "f2fs":
        with mounted(part.kind, device, "ro") as root:
            for name, digest in part.files.items():
                assert hashlib.sha256((root / name).read_bytes()).hexdigest() == digest, f"{part.kind}: {name}"


def used_by_dumpe2fs(path: str) -> list[tuple[int, int]]:
    """Used ranges of an ext filesystem by its own tool, in bytes."""
    text = run("dumpe2fs", path)
    number = {
        key: int(re.search(rf"^{key}: +(\d+)$", text, re.M)[1]) for key in ("Block size", "Block count", "First block")
    }  # type: ignore[index]
    block, count = number["Block size"], number["Block count"]
    used = bytearray(b"\1" * count)
    for line in re.findall(r"^  Free blocks: (.*)$", text, re.M):
        for piece in filter(None, line.split(", ")):
            first, _, last = piece.partition("-")
            for i in range(int(first), int(last or first) + 1):
                used[i] = 0
    return [*runs(used, block), (count * block, 1 << 60)]


def used_by_partclone(kind: str, path: str) -> list[tuple[int, int]]:
    """Used ranges by partclone's map; what is behind the end of the filesystem is used."""
    with tempfile.NamedTemporaryFile() as out:
        run(f"partclone.{TOOL.get(kind, kind)}", *NO_WAIT, "-D", "-q", "-L", "/dev/null", "-s", path, "-O", out.name)
        lines = [line.split() for line in Path(out.name).read_text().splitlines() if not line.startswith("#")]
    ranges = [
        (int(at, 16), int(at, 16) + int(size, 16), status) for at, size, status in (x for x in lines if len(x) == 3)
    ]
    return [(start, end) for start, end, status in ranges if status == "+"] + [(ranges[-1][1], 1 << 60)]


def runs(used: bytearray, unit: int) -> list[tuple[int, int]]:
    """Ranges of bytes for a list of flags."""
    return [(m.start() * unit, m.end() * unit) for m in re.finditer(rb"\x01+", used)]


def used_of(part: Part, path: str) -> list[tuple[int, int]]:
    """What an image has to keep of a partition, relative to its start; worked out here, not by sledc."""
    if part.kind == "swap":
        return [(0, 4096)]
    if part.kind in (*WHOLE, "fat12"):  # partclone 0.3.23 reads FAT12 wrongly, so it is kept whole
        return [(0, part.size)]
    if part.kind == "btrfs":
        return btrfs.used(path)
    used = used_by_dumpe2fs(path) if part.kind.startswith("ext") else used_by_partclone(part.kind, path)
    return [*used, (part.size - 512, part.size)] if part.kind == "ntfs" else used


def expect(path: Path, parts: list[Part], to: Path) -> None:
    """The raw disk with its free blocks as zeros: what an image must unpack to."""
    size = path.stat().st_size
    ends = [0, *(part.start + part.size for part in parts)]
    keep = list(zip(ends, [*(part.start for part in parts), size], strict=True))  # what is outside of partitions
    for part in parts:
        with cut(path, part) as device:
            used = used_of(part, device)
            keep += [(part.start + a, part.start + min(b, part.size)) for a, b in used if a < part.size]
    with path.open("rb") as disk, to.open("wb") as out:
        out.truncate(size)
        for start, end in keep:
            at = start
            while at < end and (copied := os.copy_file_range(disk.fileno(), out.fileno(), end - at, at, at)):
                at += copied


if __name__ == "__main__":
    for made in make_disk(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4:]):
        print(f"{made.kind} start={made.start} size={made.size} files={len(made.files)}")
