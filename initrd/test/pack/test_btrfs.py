# SPDX-License-Identifier: Apache-2.0
"""sledc pack of a btrfs that was worked on: subvolumes, snapshots, several mounts; seeded.

As root: test_btrfs.py [NAME...]; $SLEDC. Prints TAP.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "disks"), str(HERE.parent / "c")]
import disks  # noqa: E402
from tap import run_tests  # noqa: E402

SLEDC = os.environ["SLEDC"]
SIZE = 256 * disks.MIB
work = Path(tempfile.mkdtemp())
disk, image, target = work / "disk.raw", work / "image", work / "target.raw"


def subvolume(root: Path, name: str, *snapshot_of: Path) -> None:
    """A new subvolume, or a snapshot."""
    verb = ["snapshot", *(["-r"] if len(name) % 2 else []), snapshot_of[0]] if snapshot_of else ["create"]
    disks.run("btrfs", "subvolume", *verb, root / name)


def work_on(root: Path, numbers: random.Random, files: int) -> None:
    """Creates, overwrites, renames, removes and clones files in every subvolume that can be written."""
    places = [p for p in root.iterdir() if p.is_dir() and os.access(p, os.W_OK) and not p.name.startswith("s")]
    for i in range(files):
        place = numbers.choice(places)
        path = place / f"f{numbers.randrange(files)}"
        data = bytes(disks.noise(numbers, numbers.choice((10, 3000, 5000, 70000))))
        action = numbers.randrange(6)
        if action == 0 and path.exists():
            path.unlink()
        elif action == 1 and path.exists():
            path.rename(place / f"r{i}")
        elif action == 2 and path.exists():
            disks.run("cp", "--reflink=always", path, place / f"c{i}")
        elif action == 3 and path.exists():
            with path.open("r+b") as file:
                file.seek(len(data) // 2)
                file.write(data)
        else:
            path.write_bytes(data)


def age(seed: int, options: list[str], snapshots: int, mounts: int = 4, files: int = 150) -> None:
    """A filesystem over junk that was mounted that often."""
    numbers = random.Random(seed)
    disks.junk(disk, SIZE, seed)
    disks.run("mkfs.btrfs", "-q", "-f", "-K", *options, disk)
    for turn in range(mounts):
        with disks.loop(disk) as device, disks.mounted("btrfs", device) as root:
            if turn == 0:
                subvolume(root, "@")
                subvolume(root, "@home")
            work_on(root, numbers, files)
            disks.run("sync", "-f", root)
            if turn < snapshots:
                subvolume(root, f"s{'x' * turn}", root / "@")


def hashes(path: Path) -> dict[str, str]:
    """Of each file in each subvolume."""
    with disks.loop(path) as device, disks.mounted("btrfs", device, "ro") as root:
        found = [p for p in sorted(root.rglob("*")) if p.is_file()]
        return {str(p.relative_to(root)): hashlib.sha256(p.read_bytes()).hexdigest() for p in found}


def unpack() -> None:
    with target.open("wb") as out:
        subprocess.run(["zstd", "-dcq", "--sparse", str(image)], stdout=out, check=True)


def pack() -> subprocess.CompletedProcess[str]:
    words = [SLEDC, "pack", f"in={disk}", f"out={image}", "level=1"]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)


def there_and_back(seed: int, options: list[str], snapshots: int) -> None:
    """The image has every file, is right for `btrfs check`, and is smaller than the disk."""
    age(seed, options, snapshots)
    disks.run("btrfs", "check", "--readonly", disk)
    done = pack()
    assert done.returncode == 0 and "is kept" not in done.stderr, done.stderr
    unpack()
    disks.run("btrfs", "check", "--readonly", "--check-data-csum", target)
    assert hashes(target) == hashes(disk)
    assert image.stat().st_size < SIZE * 3 // 4, f"an image of {image.stat().st_size} bytes of {SIZE}"


def test_snapshots() -> None:
    for seed in range(3):
        there_and_back(seed, [], 3)


def test_subvolumes_alone() -> None:
    for seed in range(3, 5):
        there_and_back(seed, [], 0)


def test_mixed_groups() -> None:
    there_and_back(5, ["--mixed", "-n", "4096"], 2)


def test_single() -> None:
    there_and_back(6, ["-m", "single", "-d", "dup"], 1)


def test_quota_and_other_checksum() -> None:
    there_and_back(7, ["-R", "quota", "--csum", "xxhash"], 2)


def test_not_proven() -> None:
    """A superblock that declares other used bytes than there are: all is kept, and that is reported."""
    age(8, ["--csum", "xxhash"], 1, mounts=1)
    with disk.open("r+b") as file:
        file.seek(65536 + 0x78)
        file.write(b"\1")
    done = pack()
    assert done.returncode == 0 and "all of it is kept: btrfs: the superblock declares" in done.stderr, done.stderr
    unpack()
    disks.run("cmp", disk, target)


if __name__ == "__main__":
    try:
        code = run_tests(globals())
    finally:
        shutil.rmtree(work)
    sys.exit(code)
