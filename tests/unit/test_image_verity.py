# SPDX-License-Identifier: Apache-2.0
"""The dm-verity tree behind the squashfs of a root."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

VERITY = Path(__file__).resolve().parents[2] / "roles/image/files/verity"
TOOLS = os.environ["PATH"] + ":/usr/sbin"
BLOCK = 4096

pytestmark = pytest.mark.skipif(
    not all(shutil.which(name, path=TOOLS) for name in ("mksquashfs", "veritysetup")),
    reason="needs squashfs-tools and cryptsetup-bin",
)


def run(*words: str | Path) -> int:
    """The exit code."""
    return subprocess.run(words, check=False, capture_output=True, env={**os.environ, "PATH": TOOLS}).returncode


@pytest.fixture
def squashfs(tmp_path: Path) -> Path:
    """A root that is not a multiple of a block."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/file").write_bytes(bytes(range(256)) * 4000)
    made = tmp_path / "root.squashfs"
    assert run("mksquashfs", tmp_path / "tree", made, "-noD", "-noF", "-nopad", "-mkfs-time", "0") == 0
    assert made.stat().st_size % BLOCK
    return made


def test_the_tree_is_of_the_whole_squashfs(squashfs: Path) -> None:
    before = squashfs.read_bytes()
    assert run(VERITY, squashfs) == 0
    after = squashfs.read_bytes()
    at = -(-len(before) // BLOCK) * BLOCK
    assert after[: len(before)] == before and after[at : at + 6] == b"verity"
    root = hashlib.sha256(after[at + BLOCK : at + 2 * BLOCK]).hexdigest()
    check = ("veritysetup", "verify", squashfs, squashfs, root, f"--hash-offset={at}")
    assert run(*check) == 0
    squashfs.write_bytes(after[: at - 2] + b"x" + after[at - 1 :])  # the last bytes of the last block
    assert run(*check) != 0


def test_the_same_squashfs_gets_the_same_tree(squashfs: Path) -> None:
    again = squashfs.with_suffix(".again")
    shutil.copy(squashfs, again)
    assert run(VERITY, squashfs) == 0 and run(VERITY, again) == 0
    assert squashfs.read_bytes() == again.read_bytes()


def test_what_is_no_squashfs_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(bytes(3 * BLOCK))
    assert run(VERITY, other) == 1
    assert other.read_bytes() == bytes(3 * BLOCK)
