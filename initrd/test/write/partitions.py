# SPDX-License-Identifier: Apache-2.0
"""What tests of one partition need: disks of four partitions with junk around them, and images of partitions."""

from __future__ import annotations

import hashlib
import random
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from images import KIB, MIB, SLEDC, Image, environment, expect, make_disk, noise, sledc, work

DISK = 40 * MIB
JUNK = random.Random(45).randbytes(DISK)


class Target(NamedTuple):
    """A disk of four partitions, and where each number is."""

    path: Path
    table: str
    places: dict[int, tuple[int, int]]

    def outside(self, number: int) -> str:
        """SHA-256 of all that is not in the partition."""
        start, size = self.places[number]
        data = memoryview(self.path.read_bytes())
        total = hashlib.sha256(data[:start])
        total.update(data[start + size :])
        return total.hexdigest()

    def inside(self, number: int) -> bytes:
        """The bytes of the partition."""
        start, size = self.places[number]
        with self.path.open("rb") as file:
            file.seek(start)
            return file.read(size)

    def fill(self, number: int, data: bytes) -> None:
        """Bytes at the start of the partition."""
        with self.path.open("r+b") as file:
            file.seek(self.places[number][0])
            file.write(data)


def make_target(draw: random.Random, table: str, name: str = "target.raw") -> Target:
    """Junk everywhere; partitions that start and end at any sector; boot code before the table."""
    lines = ["label: gpt", "first-lba: 34"] if table == "gpt" else ["label: dos"]
    lines.append("unit: sectors")
    places: dict[int, tuple[int, int]] = {}
    at = draw.choice((63, 64, 2048))
    for i in range(4):
        number = i + 3 if table == "logical" and i >= 2 else i + 1
        if number == 5:
            end = DISK // 512 - 64
            lines.append(f"start={at}, size={end - at}, type=5")
        at += draw.choice((63, 64, 777)) if number >= 5 else 0
        size = draw.randrange(5 * MIB, 8 * MIB) // 512
        names = f", name=part{number}, uuid=00000000-0000-0000-0000-{number:012}" if table == "gpt" else ""
        lines.append(f"start={at}, size={size}, type=linux{names}")
        places[number] = (at * 512, size * 512)
        at += size + draw.choice((0, 1, 100, 2048))
    path = work / name
    path.write_bytes(JUNK[:440] + bytes(80) + JUNK[520:])
    subprocess.run(
        ["sfdisk", "--quiet", "--wipe", "never", path],
        input="\n".join(lines) + "\n", text=True, check=True, capture_output=True,
    )  # fmt: skip
    return Target(path, table, places)


def filesystem(name: str, size: int, *command: str) -> bytes:
    """What that program makes in a file."""
    path = work / name
    path.write_bytes(bytes(size))
    subprocess.run([*command, path], check=True, capture_output=True)
    return path.read_bytes()


class Donor(NamedTuple):
    """A partition and its image."""

    data: bytes
    image: Image


def make_donors(table: str) -> list[Donor]:
    """Partitions of four systems, each packed alone."""
    files = Path(tempfile.mkdtemp(dir=work))
    (files / "file").write_bytes(JUNK[:MIB])
    contents = [
        filesystem("ext4", 4 * MIB, "mke2fs", "-q", "-t", "ext4", "-d", str(files)),
        filesystem("swap", 2 * MIB, "mkswap", "-q"),
        noise(7, 4 * MIB) + JUNK[:2560],
        filesystem("ext2", 900 * KIB, "mke2fs", "-q", "-t", "ext2"),
    ]
    starts = [2048 * 512, 12288 * 512, 20000 * 512, 40001 * 512]
    raw = make_disk(f"donor-{table}.raw", 24 * MIB, *zip(starts, contents, strict=True), table=table)
    return [Donor(data, pack(raw, i)) for i, data in enumerate(contents, 1)]


def pack(raw: Path, number: int) -> Image:
    """A signed image of one partition."""
    path = raw.with_suffix(f".{number}.zst")
    expect(sledc("pack", f"in={raw}", f"out={path}", f"partition={number}"), 0, "partition of")
    return Image.read(path)


def words_for(target: Target, place: str, url: str, image: Image, *words: str) -> tuple[list[str], dict[str, str]]:
    """The command and its environment: the disk of a machine, or a file at a shell."""
    command = ["write", f"image={url}", f"digest={image.digest}", *image.signed, *words]
    if place == "disk":
        return [*command, "disk=only"], environment(SLED_TEST_DISK=str(target.path))
    return [*command, f"file={target.path}"], environment()


def run_write(target: Target, image: Image, *words: str, code: int = 0, says: str = "", place: str = "disk") -> None:
    """One whole write, with what it must say."""
    command, env = words_for(target, place, f"file://{image.path}", image, *words)
    run = subprocess.run([SLEDC, *command], capture_output=True, text=True, timeout=120, check=False, env=env)
    expect(run, code, says)


def wrong(donor: Donor, inside: bytes) -> bool:
    """Whether the partition lacks something of the image."""
    path = work / "inside"
    path.write_bytes(inside[: donor.image.bytes])
    return bool(donor.image.wrong(path))
