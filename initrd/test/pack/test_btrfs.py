# SPDX-License-Identifier: Apache-2.0
"""sledc pack of a btrfs that was worked on: subvolumes, snapshots, several mounts; seeded.

As root: test_btrfs.py [NAME...]; $SLEDC. Prints TAP.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "disks"), str(HERE.parent / "c")]
import age  # noqa: E402
import disks  # noqa: E402
from tap import run_tests  # noqa: E402

SLEDC = os.environ["SLEDC"]
SIZE = age.SIZES["btrfs"] * disks.MIB
work = Path(tempfile.mkdtemp())
disk, image, target = work / "disk.raw", work / "image", work / "target.raw"


def life(seed: int, options: list[str], snapshots: int, days: int = 4) -> age.Life:
    """A filesystem over junk that was mounted on so many days."""
    return age.Life("btrfs", disk, seed, days, 150, snapshots, ("@", "@home"), options)


def unpack() -> None:
    with target.open("wb") as out:
        subprocess.run(["zstd", "-dcq", "--sparse", str(image)], stdout=out, check=True)


def pack() -> subprocess.CompletedProcess[str]:
    words = [SLEDC, "pack", f"in={disk}", f"out={image}", "level=1"]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)


def there_and_back(seed: int, options: list[str], snapshots: int) -> None:
    """The image has every file, is right for `btrfs check`, and is smaller than the disk."""
    life(seed, options, snapshots).live()
    disks.run("btrfs", "check", "--readonly", disk)
    done = pack()
    assert done.returncode == 0 and "is kept" not in done.stderr, done.stderr
    unpack()
    disks.run("btrfs", "check", "--readonly", "--check-data-csum", target)
    assert age.contents("btrfs", target) == age.contents("btrfs", disk)
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
    life(8, ["--csum", "xxhash"], 1, days=1).live()
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
