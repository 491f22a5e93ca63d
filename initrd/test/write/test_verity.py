# SPDX-License-Identifier: Apache-2.0
"""A root that dm-verity checks, with its hash tree behind the filesystem, is right after pack and write. Prints TAP."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from images import MIB, expect, make_disk, noise, pack, run_tests, sledc, work

FILESYSTEM, PARTITION = 24 * MIB, 32 * MIB
SALT = "5ed0" * 16


def make_root(superblock: bool) -> tuple[Path, list[str]]:
    """The partition, and the words that verify it."""
    path, files = work / "root", work / "files"
    files.mkdir(exist_ok=True)
    (files / "some").write_bytes(noise(1, 4 * MIB))
    with path.open("wb") as f:
        f.truncate(PARTITION)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-b", "4096", "-d", files, path, "24M"], check=True)
    options = [f"--hash-offset={FILESYSTEM}", f"--salt={SALT}", *([] if superblock else ["--no-superblock"])]
    options += [f"--data-blocks={FILESYSTEM // 4096}"]
    words = ["veritysetup", "format", *options, str(path), str(path)]
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    found = re.search(r"Root hash:\s*([0-9a-f]{64})", said)
    assert found, said
    return path, [*options, found[1]]


def verify(partition: Path, words: list[str]) -> int:
    *options, root = words
    done = subprocess.run(
        ["veritysetup", "verify", *options, partition, partition, root], check=False, capture_output=True
    )
    return done.returncode


def there_and_back(superblock: bool) -> None:
    root, words = make_root(superblock)
    assert verify(root, words) == 0, "the test's own tree"
    image = pack(make_disk("disk.raw", 40 * MIB, (MIB, root.read_bytes())))
    target, part = work / "target", work / "part"
    target.write_bytes(b"\xa5" * 40 * MIB)
    expect(
        sledc(
            "write",
            f"file={target}",
            f"image=file://{image.path}",
            f"digest={image.digest}",
            *image.signed,
            "gaps=zero",
        ),
        0,
    )
    part.write_bytes(target.read_bytes()[MIB : MIB + PARTITION])
    assert verify(part, words) == 0, "veritysetup"
    data = bytearray(part.read_bytes())
    data[FILESYSTEM + 8192] ^= 1
    part.write_bytes(data)
    assert verify(part, words) != 0, "it would see a tree that differs"


def test_with_a_superblock() -> None:
    there_and_back(True)


def test_without() -> None:
    there_and_back(False)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
