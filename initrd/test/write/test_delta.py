# SPDX-License-Identifier: Apache-2.0
"""A disk that holds most of the image already: mode delta moves the rest, mode auto knows when that pays.

Prints TAP.
"""

from __future__ import annotations

import functools
import random
import subprocess
import sys
from pathlib import Path

from images import ASIDE, GIGABIT, KIB, MIB, Image, Server, expect, make_disk, noise, pack, run_tests, work, write

SEED = 9
DISK = 132 * MIB
DATA = 128 * MIB
PROBE = 4 * MIB  # of the image, that auto fetches to measure the source


@functools.cache
def image_of(each: int) -> tuple[Image, Path]:
    """An image whose chunks hold `each` bytes of noise, and its disk."""
    raw = make_disk(f"noise{each}.raw", DISK, (MIB, noise(SEED, DATA, each)))
    return pack(raw), raw


def changed(raw: Path, share: float) -> Path:
    """A disk on which that share of the chunks, the first one aside, is not as the image has it."""
    disk = work / "target"
    disk.write_bytes(raw.read_bytes())
    draw = random.Random(SEED)
    with disk.open("r+b") as f:
        for number in draw.sample(range(1, DATA // MIB), int(DATA // MIB * share)):
            f.seek(number * MIB + draw.randrange(MIB - 16))
            f.write(draw.randbytes(16))
    return disk


def write_over(image: Image, disk: Path, mode: str, rate: int = 0) -> tuple[subprocess.CompletedProcess[str], int]:
    """The run, and the bytes that it fetched."""
    with Server(image.path, rate) as server:
        run = write(server.url, image, disk, f"mode={mode}", "verify=none")
    expect(run, 0)
    assert not image.wrong(disk)
    return run, server.sent


def frames(image: Image, disk: Path) -> int:
    """Bytes of the frames of what is wrong on the disk."""
    return sum(chunk.frame for chunk in image.wrong(disk))


def test_delta_fetches_what_differs() -> None:
    image, raw = image_of(MIB)
    for share in (0, 0.05, 0.5):
        disk = changed(raw, share)
        wanted = frames(image, disk) + image.chunks[0].frame + ASIDE
        _, sent = write_over(image, disk, "delta")
        assert sent <= wanted, f"{share}: {sent} bytes were fetched, {wanted} would do"


def test_auto_is_delta_behind_a_gigabit() -> None:
    image, raw = image_of(MIB)
    disk = changed(raw, 0.05)
    wanted = frames(image, disk) + image.chunks[0].frame + ASIDE + PROBE
    run, sent = write_over(image, disk, "auto", GIGABIT)
    expect(run, 0, "detail delta: ")
    assert sent <= wanted, f"{sent} bytes were fetched, {wanted} would do"
    print("#", run.stdout.splitlines()[-1])


def test_auto_is_full_from_here() -> None:
    image, raw = image_of(100 * KIB)
    run, sent = write_over(image, changed(raw, 0.5), "auto")
    expect(run, 0, "detail full: ")
    assert sent >= sum(chunk.frame for chunk in image.chunks)
    print("#", run.stdout.splitlines()[-1])


def test_auto_is_full_on_a_wiped_disk() -> None:
    image, _ = image_of(MIB)
    disk = work / "target"
    disk.write_bytes(bytes(DISK))
    run, sent = write_over(image, disk, "auto", 4 * GIGABIT)
    expect(run, 0, "sampled chunks differ")
    expect(run, 0, "detail full: ")
    assert sent <= image.path.stat().st_size + ASIDE, "nothing is fetched to measure what is clear"


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
