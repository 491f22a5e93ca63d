# SPDX-License-Identifier: Apache-2.0
"""Days of work on a filesystem, seeded: each day is a mount. What a mkfs and one filling do not show.

usage, as root: age.py FILE KIND SEED
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import disks

# mkfs options, of which the seed chooses one line.
VARIANTS: dict[str, list[list[str]]] = {
    "ext2": [[], ["-b", "1024"], ["-O", "^resize_inode"]],
    "ext3": [[], ["-b", "1024"], ["-O", "^dir_index"]],
    "ext4": [
        [], ["-O", "inline_data"], ["-b", "1024"], ["-O", "^64bit,^metadata_csum"], ["-O", "meta_bg,^resize_inode"],
    ],
    "xfs": [[], ["-m", "rmapbt=1"], ["-b", "size=1024"], ["-m", "reflink=0"]],
    "btrfs": [[], ["--mixed", "-n", "4096"], ["-m", "single", "-d", "dup"], ["--csum", "xxhash"], ["-R", "quota"]],
    "ntfs": [[], ["-c", "2048"]],
    "fat12": [[]], "fat16": [[]], "fat32": [[]], "exfat": [[]], "f2fs": [[]],
}  # fmt: skip
SIZES = disks.KINDS | {"btrfs": 256}  # MiB
REFLINKS = ("xfs", "btrfs")
HOLES = ("ext4", "xfs", "btrfs")
XATTRS = ("ext2", "ext3", "ext4", "xfs", "btrfs")
FATS = ("fat12", "fat16", "fat32")
FULL = {errno.ENOSPC, errno.EDQUOT}  # a full disk is part of a life
LENGTHS = (0, 10, 150, 3000, 5000, 70000, 400000)


@dataclass
class Life:
    """One filesystem, from mkfs on."""

    kind: str
    path: Path
    seed: int
    days: int = 4
    actions: int = 120  # of a day
    snapshots: int = 0  # days that end with one
    subvolumes: tuple[str, ...] = ()
    options: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.draw = random.Random(f"{self.kind}/{self.seed}")

    @property
    def size(self) -> int:
        return SIZES[self.kind] * disks.MIB

    def make(self) -> None:
        """Over junk."""
        disks.junk(self.path, self.size, self.seed)
        with disks.loop(self.path) as device:
            disks.make(self.kind, device, self.size, 512, 1, *self.options)

    def live(self, at_half: Callable[[], object] | None = None) -> None:
        """All days; `at_half` is called between two of them."""
        self.make()
        for day in range(self.days):
            if day == self.days // 2 and at_half:
                at_half()
            with disks.loop(self.path) as device:
                if self.kind in FATS:
                    day_with_mtools(self, device, day)
                elif self.kind == "f2fs":
                    day_with_sload(self, device, day)
                else:
                    self.day(device, day)

    def day(self, device: str, day: int) -> None:
        """One mount."""
        with disks.mounted(self.kind, device, self.mount_options()) as root:
            for name in self.subvolumes if day == 0 else ():
                disks.run("btrfs", "subvolume", "create", root / name)
            work_on(self, root)
            disks.run("sync", "-f", root)
            if day < self.snapshots:
                snapshot(root, day)

    def mount_options(self) -> str:
        return "rw,compress-force=zstd" if self.kind == "btrfs" and self.draw.random() < 0.3 else "rw"


def life(kind: str, path: Path, seed: int) -> Life:
    """The life of that seed. Half of the btrfs have subvolumes and snapshots."""
    draw = random.Random(f"variant {kind} {seed}")
    many = kind == "btrfs" and seed % 2 == 0
    return Life(
        kind, path, seed,
        days=draw.randrange(2, 6),
        snapshots=draw.randrange(1, 4) if many else 0,
        subvolumes=("@", "@home") if many else (),
        options=VARIANTS[kind][seed % len(VARIANTS[kind])],
    )  # fmt: skip


def snapshot(root: Path, day: int) -> None:
    """Every second one can be written to. The oldest goes when there are three."""
    kind = ["-r"] if day % 2 else []
    disks.run("btrfs", "subvolume", "snapshot", *kind, root / "@", root / f"s{day}")
    if day == 3:
        disks.run("btrfs", "subvolume", "delete", root / "s0")


def create(life: Life, path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(disks.noise(life.draw, life.draw.choice(LENGTHS)))


def overwrite(life: Life, path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(life.draw.randrange(path.stat().st_size + 9000))
        file.write(disks.noise(life.draw, life.draw.choice(LENGTHS)))


def shorten(life: Life, path: Path) -> None:
    os.truncate(path, life.draw.randrange(path.stat().st_size + 1))


def rename(life: Life, path: Path) -> None:
    path.rename(path.with_name(f"r{life.draw.randrange(300)}"))


def punch(life: Life, path: Path) -> None:
    size = path.stat().st_size
    if size and life.kind in HOLES:
        start = life.draw.randrange(size)
        disks.run("fallocate", "-p", "-o", str(start), "-l", str(life.draw.choice((1000, 8192, 100000))), path)


def reserve(life: Life, path: Path) -> None:
    if life.kind in HOLES:
        disks.run("fallocate", "-n", "-o", "0", "-l", str(life.draw.choice((4096, 300000))), path)


def clone(life: Life, path: Path) -> None:
    if life.kind in REFLINKS and "reflink=0" not in life.options:
        name = path.with_name(f"c{life.draw.randrange(300)}")
        if name != path:
            disks.run("cp", "--reflink=always", path, name)


def attribute(life: Life, path: Path) -> None:
    if life.kind in XATTRS:
        value = bytes(disks.noise(life.draw, life.draw.choice((5, 40, 300, 900))))
        os.setxattr(path, f"user.a{life.draw.randrange(4)}", value)


def link(life: Life, path: Path) -> None:
    name = path.with_name(f"l{life.draw.randrange(300)}")
    if life.kind in XATTRS and not os.path.lexists(name):
        os.link(path, name) if life.draw.random() < 0.5 else name.symlink_to("x" * life.draw.choice((5, 59, 200)))


ACTIONS: list[tuple[int, Callable[[Life, Path], object]]] = [
    (2, overwrite), (1, shorten), (2, rename), (3, lambda _, path: path.unlink()), (1, punch), (1, reserve), (1, clone),
    (1, attribute), (1, link), (1, create),
]  # fmt: skip


def work_on(life: Life, root: Path) -> None:
    """Half creates files, half changes those of a day before."""
    draw = life.draw
    places = [root / name for name in life.subvolumes] or [root]
    weights = [weight for weight, _ in ACTIONS]
    for _ in range(life.actions):
        place = draw.choice(places)
        path = place / f"folder{draw.randrange(6)}" / f"f{draw.randrange(300)}"
        there = sorted(place.glob("folder*/*")) if draw.random() < 0.5 else []
        old = [p for p in there if p.is_file() and not p.is_symlink()]
        try:
            if draw.random() < 0.02 and len(list(place.glob("folder*"))) > 2:
                shutil.rmtree(draw.choice(sorted(place.glob("folder*"))))
            elif old:
                draw.choices(ACTIONS, weights)[0][1](life, draw.choice(old))
            else:
                create(life, path)
        except OSError as error:
            if error.errno not in FULL:
                raise
        except RuntimeError as error:  # of a program
            if "No space left" not in str(error):
                raise


def day_with_mtools(life: Life, device: str, day: int) -> None:
    """Kernels without vfat are common in machines of build farms. mren refuses a name that an earlier day gave."""
    draw = life.draw
    with tempfile.TemporaryDirectory() as folder:
        new = Path(folder) / f"day{day}"
        new.mkdir()
        room = life.size // (3 * life.days)
        for i in range(life.actions // 2):
            size = min(room, draw.choice(LENGTHS))
            (new / f"long name of file {i}").write_bytes(disks.noise(draw, size))
            room -= size
        disks.run("mcopy", "-s", "-o", "-Q", "-i", device, new, "::")
        names = [f"::{new.name}/long name of file {i}" for i in range(life.actions // 2)]
        gone = draw.sample(names, len(names) // 2)
        disks.run("mdel", "-i", device, *gone)
        for name in draw.sample([name for name in names if name not in gone], 5):
            disks.run("mren", "-i", device, name, f"{name} renamed")


def day_with_sload(life: Life, device: str, day: int) -> None:
    """It only adds files. Their names differ, for they come back in one folder."""
    with tempfile.TemporaryDirectory() as folder:
        new = Path(folder) / f"day{day}"
        new.mkdir()
        for i in range(life.actions // 6):
            (new / f"f{day}-{i}").write_bytes(disks.noise(life.draw, life.draw.choice(LENGTHS[1:])))
        disks.run("sload.f2fs", "-f", folder, device)


def dump_f2fs(device: str, folder: str) -> Path:
    """Each inode that is a file, by its name."""
    words: list[str] = ["dump.f2fs", "-n", "0~-1", device]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    inodes = re.findall(r"nid:\s*(\d+)\s+ino:\s*\1\s", (Path(folder) / "dump_nat").read_text())
    for number in inodes:
        words = ["dump.f2fs", "-i", hex(int(number)), device]
        subprocess.run(words, cwd=folder, check=False, capture_output=True, input=b"y\n")
    return Path(folder) / "lost_found"


def facts(path: Path) -> tuple[object, ...]:
    """What must come back of a file."""
    state = path.lstat()
    what: object = None
    if stat.S_ISREG(state.st_mode):
        with path.open("rb") as file:
            what = hashlib.file_digest(file, "sha256").hexdigest()
    elif path.is_symlink():
        what = os.readlink(path)
    attributes: list[tuple[str, bytes]] = []
    with contextlib.suppress(OSError):  # some have none at all
        attributes = [(n, os.getxattr(path, n)) for n in sorted(os.listxattr(path)) if n.startswith("user.")]
    return (stat.S_IFMT(state.st_mode), what, state.st_size if path.is_file() else 0, state.st_nlink, attributes)


@contextlib.contextmanager
def tree(kind: str, device: str) -> Iterator[Path]:
    """All files under a folder; of FAT and f2fs, copies."""
    if kind == "f2fs":
        with tempfile.TemporaryDirectory() as folder:
            yield dump_f2fs(device, folder)
        return
    if kind not in FATS:
        with disks.mounted(kind, device, "ro") as root:
            yield root
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mcopy", "-s", "-n", "-Q", "-i", device, "::", folder], check=True, capture_output=True)
        yield Path(folder)


def contents(kind: str, path: Path) -> dict[str, tuple[object, ...]]:
    """Of every file."""
    with disks.loop(path, 512, 0, SIZES[kind] * disks.MIB) as device, tree(kind, device) as root:
        return {str(p.relative_to(root)): facts(p) for p in sorted(root.rglob("*"))}


if __name__ == "__main__":
    made = life(sys.argv[2], Path(sys.argv[1]), int(sys.argv[3]))
    made.live()
    print(f"{made.kind} {made.options}: {len(contents(made.kind, made.path))} files in {made.days} days")
