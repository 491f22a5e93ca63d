# SPDX-License-Identifier: Apache-2.0
"""An image on a disk of another size: its GPT is valid there, its filesystem clean; or it is refused. Prints TAP."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from images import MIB, Image, expect, make_disk, pack, run_tests, sledc, work, write

DISK = 64 * MIB
START = MIB
FILESYSTEM = 40 * MIB


def image_with_ext4(size: int, table: str = "gpt") -> Image:
    """One partition with ext4, its last block used as ever; the rest of the disk is in no partition."""
    files = work / "files"
    files.mkdir(exist_ok=True)
    (files / "some").write_bytes(bytes(range(256)) * 4096)
    filesystem = work / "ext4"
    with filesystem.open("wb") as f:
        f.truncate(FILESYSTEM)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", files, filesystem], check=True, capture_output=True)
    return pack(make_disk("ext4.raw", size, (START, filesystem.read_bytes()), table=table))


def write_to(image: Image, size: int) -> tuple[subprocess.CompletedProcess[str], Path]:
    """A disk of that size, full of something else."""
    disk = work / "target"
    disk.write_bytes(b"\xa5" * size)
    return write(f"file://{image.path}", image, disk, "verify=full"), disk


def check_filesystem(disk: Path) -> None:
    """What e2fsck says."""
    subprocess.run(["e2fsck", "-fn", f"{disk}?offset={START}"], check=True, capture_output=True)


def check(disk: Path) -> None:
    """What tools of others say."""
    table = subprocess.run(["sgdisk", "-v", disk], capture_output=True, text=True, check=False)
    assert table.returncode == 0, table.stdout
    assert "No problems found" in table.stdout, table.stdout
    table = subprocess.run(["sfdisk", "--verify", disk], capture_output=True, text=True, check=False)
    assert table.returncode == 0, table.stdout + table.stderr
    assert "backup" not in table.stderr, table.stderr
    check_filesystem(disk)


def test_the_same_size() -> None:
    image = image_with_ext4(DISK)
    run, disk = write_to(image, DISK)
    expect(run, 0)
    check(disk)
    assert not image.wrong(disk)


def test_larger() -> None:
    image = image_with_ext4(DISK)
    for size in (DISK + 512, DISK + 4096, 2 * DISK):
        run, disk = write_to(image, size)
        expect(run, 0)
        check(disk)
        if size > DISK + MIB:
            with disk.open("rb") as f:
                f.seek(DISK - 33 * 512)
                assert not any(f.read(33 * 512)), "the image's own copy is still there"


def test_smaller() -> None:
    image = image_with_ext4(DISK)
    least = START + FILESYSTEM + 33 * 512
    for size in (DISK - 512, DISK - MIB, least):
        run, disk = write_to(image, size)
        expect(run, 0)
        check(disk)


def test_again_on_a_larger_disk() -> None:
    image = image_with_ext4(DISK)
    run, disk = write_to(image, 2 * DISK)
    expect(run, 0)
    before = disk.read_bytes()
    for mode in ("delta", "full"):
        expect(write(f"file://{image.path}", image, disk, f"mode={mode}"), 0)
        assert disk.read_bytes() == before
    check(disk)


def test_without_a_gpt() -> None:
    image = image_with_ext4(DISK, "dos")
    end = START + FILESYSTEM
    for size in (2 * DISK, DISK, end):
        run, disk = write_to(image, size)
        expect(run, 0)
        check_filesystem(disk)
        assert not image.wrong(disk)
    run, disk = write_to(image, end - 512)
    expect(run, 4, f"reach to {end}: 512 bytes too small")


def verify(image: Image, disk: Path, code: int, words: str = "") -> None:
    """What the verb makes of that disk."""
    expect(sledc("verify", f"in={image.path}", f"file={disk}"), code, words)


def flip(disk: Path, at: int) -> None:
    """One bit."""
    with disk.open("r+b") as f:
        f.seek(at)
        byte = f.read(1)[0]
        f.seek(at)
        f.write(bytes([byte ^ 1]))


def test_verify() -> None:
    image = image_with_ext4(DISK)
    for size in (DISK, DISK + 512, 2 * DISK, START + FILESYSTEM + 33 * 512):
        run, disk = write_to(image, size)
        expect(run, 0)
        verify(image, disk, 0)
        moved = size != DISK
        # signature of the MBR, its code, of the header, an entry, an inode; the copy's entries and header
        for at in (510, 0, 512, 1024, START + 1080, size - 33 * 512, size - 512):
            flip(disk, at)
            verify(image, disk, 5, "differ")
            flip(disk, at)
        verify(image, disk, 0)
        if size > DISK + MIB:
            flip(disk, DISK - 512)
            verify(image, disk, 5, "differ")
            flip(disk, DISK - 512)
        expect(sledc("grow", "disk=only", SLED_TEST_DISK=str(disk)), 0)
        run = sledc("verify", f"in={image.path}", f"file={disk}")
        expect(run, 0)
        assert ("GPT is that for a disk of another size" in run.stdout) == moved, run.stdout
        flip(disk, 1024 + 40)  # the end of its partition
        verify(image, disk, 5, "differ")


def test_verify_without_a_gpt() -> None:
    image = image_with_ext4(DISK, "dos")
    run, disk = write_to(image, 2 * DISK)
    expect(run, 0)
    verify(image, disk, 0)
    expect(sledc("grow", "disk=only", SLED_TEST_DISK=str(disk)), 0)
    verify(image, disk, 0)
    flip(disk, 446 + 12)
    verify(image, disk, 5, "differ")
    disk.write_bytes(disk.read_bytes()[: DISK // 2])
    verify(image, disk, 5, "too small")


def test_too_small() -> None:
    image = image_with_ext4(DISK)
    least = START + FILESYSTEM + 33 * 512
    for missing in (512, MIB, FILESYSTEM):
        run, disk = write_to(image, least - missing)
        expect(run, 4, f": {missing} bytes too small")
        assert disk.read_bytes() == b"\xa5" * (least - missing), "it was touched"


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
