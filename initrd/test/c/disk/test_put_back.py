# SPDX-License-Identifier: Apache-2.0
"""A disk that is ahead of its plan: no step that loses something touches it, nor any disk beside it. Prints TAP."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tap import run_tests

SLEDC = os.environ["SLEDC"]
VECTORS = Path(os.environ["SLED_VECTORS"])
MIB = 1 << 20
FLEET, EPOCH, OTHER = (f"{digit * 8}-52c1-4f7e-8a54-0b5f6c1e7a54" for digit in "012")
MAC = "52-54-00-77-00-01"
STAMP = f"{FLEET}/{EPOCH}/{MAC}/3/7"
IMAGE = VECTORS / "image/ok/gaps.raw.zst"
work = Path(tempfile.mkdtemp())


def disk(name: str, stamp: str = "") -> Path:
    """A file of bytes that are not zero, and the stamp."""
    content = bytearray(b"\xa5" * (32 * MIB))
    content[MIB - 4096 : MIB] = (f"sled stamp 1 {stamp}\n" if stamp else "").encode().ljust(4096, b"\0")
    (work / name).write_bytes(content)
    return work / name


def sledc(*words: str, disks: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "SLED_TEST_DISK": ":".join(map(str, disks)),
        "SLED_KEYS": str(VECTORS / "image/keys/test.pub"),
    }
    return subprocess.run([SLEDC, *words], env=environment, capture_output=True, text=True, check=False, timeout=60)


def digest() -> str:
    """That of the image."""
    shown = sledc("inspect", f"in={IMAGE}").stdout
    return next(word for word in shown.split() if word.startswith("sha256:"))


def refused(done: subprocess.CompletedProcess[str], disks: dict[Path, bytes]) -> None:
    assert done.returncode == 4, done
    assert "is ahead of the plan" in done.stderr, done
    for file, before in disks.items():
        assert file.read_bytes() == before, f"{file.name} was touched"


def test_wipe_of_two_disks() -> None:
    for known in (f"{FLEET}/{EPOCH}/{MAC}/3/6", f"{FLEET}/{EPOCH}/{MAC}/0/0", f"{FLEET}/{OTHER}/{MAC}/3/7"):
        disks = disk("blank"), disk("ahead", STAMP)
        before = {file: file.read_bytes() for file in disks}
        refused(sledc("wipe", "disks=all", f"known={known}", disks=disks), before)
        assert sledc("wipe", "disks=all", disks=disks).returncode == 0, "released"


def test_wipe_of_what_the_store_knows() -> None:
    for stamp in ("", STAMP, f"{FLEET}/{EPOCH}/52-54-00-77-00-02/9/90", f"{OTHER}/{EPOCH}/{MAC}/9/90"):
        file = disk("known", stamp)
        done = sledc("wipe", "disks=all", f"known={STAMP}", disks=(file,))
        assert done.returncode == 0, done
        assert not any(file.read_bytes()), stamp


def test_write() -> None:
    words = ("write", "disk=only", f"image=file://{IMAGE}", f"digest={digest()}")
    for mode in ("full", "delta"):
        file = disk("ahead", STAMP)
        before = {file: file.read_bytes()}
        older = f"known={FLEET}/{EPOCH}/{MAC}/2/5"
        refused(sledc(*words, f"mode={mode}", older, disks=(file,)), before)


def test_image_has_no_stamp() -> None:
    file, image = disk("stamped", STAMP), work / "stamped.raw.zst"
    packed = sledc("pack", f"in={file}", f"out={image}", "sector=512")
    assert packed.returncode == 0, packed
    content = subprocess.run(["zstd", "-dcq", image], capture_output=True, check=True, timeout=60).stdout
    assert b"\xa5" * 4096 in content
    assert STAMP.encode() not in content


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
