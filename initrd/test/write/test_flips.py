# SPDX-License-Identifier: Apache-2.0
"""One bit of an image file is wrong: the image is refused, and what is wrong is not written.

200 seeded places. Prints TAP.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path

from images import MIB, Image, dead, expect, make_disk, noise, pack, run_tests, sledc, work, write

SEED = 6
PLACES = 200
DISK = 64 * MIB


def small_image() -> Image:
    """Two partitions, a gap between them and one behind."""
    return pack(make_disk("small.raw", DISK, (MIB, noise(1, 2 * MIB)), (40 * MIB, noise(2, 2 * MIB))))


def part_of(image: Image, place: int) -> str:
    """What of the file lies there."""
    if any(chunk.at <= place < chunk.at + chunk.frame for chunk in image.chunks):
        return "data"
    if place < image.index_at - 8:
        return "gap"
    if place < image.index_at + image.index_size:
        return "index"
    return "trailer" if place < image.index_at + image.index_size + 144 else "seek table"


def places(image: Image) -> list[int]:
    """Half of them anywhere, half of them where the data is not: that is little of the file."""
    draw = random.Random(SEED)
    size = image.path.stat().st_size
    data = bytearray(size)
    for chunk in image.chunks:
        data[chunk.at : chunk.at + chunk.frame] = b"\1" * chunk.frame
    rest = [place for place in range(size) if not data[place]]
    return [draw.randrange(size) for _ in range(PLACES // 2)] + draw.sample(rest, PLACES // 2)


def flip(image: Image, place: int, bit: int) -> Path:
    """A copy with that bit wrong."""
    data = bytearray(image.path.read_bytes())
    data[place] ^= 1 << bit
    path = work / "flipped.raw.zst"
    path.write_bytes(data)
    return path


def codes(image: Image, place: int) -> tuple[int, ...]:
    """Integrity; in the trailer's version the flip makes another version, which is no fault but not supported."""
    version = image.index_at + image.index_size + 8 + 8
    return (3,) if version <= place < version + 4 else (5,)


def check_write(image: Image, flipped: Path, place: int) -> None:
    """Refused; the chunk is not written, nothing can start; with a wrong index nothing at all is written."""
    disk = work / "target"
    with disk.open("wb") as f:
        f.truncate(DISK)
    run = write(f"file://{flipped}", image, disk, "mode=full", "verify=none")
    assert run.returncode in codes(image, place), f"byte {place}: exit {run.returncode}: {run.stdout}{run.stderr}"
    assert dead(disk), f"byte {place}: the disk could start"
    with disk.open("rb") as f:
        data = f.read()
    for chunk in image.chunks:
        if chunk.at <= place < chunk.at + chunk.frame:
            written = any(data[start:end].strip(b"\0") for start, end in chunk.runs(DISK))
            assert not written, f"byte {place}: the chunk at {chunk.offset} was written"
    if part_of(image, place) != "data":
        assert data == bytes(DISK), f"byte {place}: something was written"


def test_flips() -> None:
    image = small_image()
    draw = random.Random(SEED)
    seen: Counter[str] = Counter()
    for place in places(image):
        flipped = flip(image, place, draw.randrange(8))
        part = part_of(image, place)
        seen[part] += 1
        if part != "gap":  # which a write never fetches
            check_write(image, flipped, place)
        run = sledc("verify", f"in={flipped}", f"digest={image.digest}")
        assert run.returncode in codes(image, place), (
            f"byte {place}, {part}: verify: exit {run.returncode}: {run.stdout}{run.stderr}"
        )
    assert set(seen) == {"data", "gap", "index", "trailer", "seek table"}, seen
    print(f"# {dict(seen)}")


def test_the_image_itself_is_right() -> None:
    image = small_image()
    disk = work / "target"
    with disk.open("wb") as f:
        f.truncate(DISK)
    expect(write(f"file://{image.path}", image, disk), 0)
    assert not image.wrong(disk)
    expect(sledc("verify", f"in={image.path}", f"digest={image.digest}"), 0)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
