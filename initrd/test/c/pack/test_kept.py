# SPDX-License-Identifier: Apache-2.0
"""Every disk of ../../../contract/vectors/disk: its image has the used granules of the manifest, with their bytes.
If there is an image of it from before that rule, too, its granules are among these, with the same bytes.

Prints TAP; with words on the command line only those disks.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import zstandard

VECTORS = Path(os.environ["SLED_VECTORS"])
sys.path.append(str(VECTORS.parent / "reader"))
import image  # noqa: E402

SLEDC = os.environ["SLEDC"]
GRANULE = 4096
SAME = ("extended_usual.raw.zst", "luks_over_swap.raw.zst")  # nothing of these was lost before the rule
work = Path(tempfile.mkdtemp())


def used_of(made: Path) -> tuple[image.Index, dict[int, bytes]]:
    """The index of an image, and its used granules by number."""
    used: dict[int, bytes] = {}
    with made.open("rb") as file:
        index = image.open_image(file)
        for chunk in index.chunks:
            data = image.read_chunk(file, chunk)
            for is_used, start, end in chunk.granules():
                if is_used:
                    used[(chunk.offset + start) // GRANULE] = data[start:end]
    return index, used


def runs(numbers: list[int]) -> str:
    """As in the manifest."""
    found: list[list[int]] = []
    for i in numbers:
        if found and found[-1][1] == i - 1:
            found[-1][1] = i
        else:
            found.append([i, i])
    return ",".join(f"{first}-{last}" for first, last in found)


def check(name: str, sector: int, asked: str, wanted: str) -> None:
    """One disk."""
    source, made = VECTORS / "disk" / name, work / "image"
    words = [SLEDC, "pack", f"in={source}", f"out={made}", *([asked] if asked != "-" else [])]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    index, used = used_of(made)
    assert index.sector == sector, f"sectors of {index.sector} bytes, not {sector}"
    assert runs(sorted(used)) == wanted, f"used: {runs(sorted(used))}, not {wanted}; {done.stderr}"
    assert asked == "-" or "gaps=drop: " in done.stderr, done.stderr
    check_before(name, index, used)
    disk = zstandard.ZstdDecompressor().decompress(source.read_bytes())
    for number, data in used.items():
        whole = disk[number * GRANULE : (number + 1) * GRANULE]
        other = data != whole and [a for a, b in zip(data, whole, strict=True) if a not in (b, 0)]
        assert not other, f"granule {number} is not that of the disk"


def check_before(name: str, index: image.Index, used: dict[int, bytes]) -> None:
    """The image of before has no other bytes; what has the same granules has the same chunks."""
    before = VECTORS / "image/before" / name
    if not before.exists():
        return
    old, old_used = used_of(before)
    assert old_used.items() <= used.items(), f"not as before: {sorted(old_used.items() - used.items())[0][0]}"
    same = [(c.offset, c.used, c.hash) for c in old.chunks] == [(c.offset, c.used, c.hash) for c in index.chunks]
    assert same == (name in SAME), f"the same chunks as before: {same}"


def main() -> int:
    failed = 0
    lines = (VECTORS / "disk/manifest").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        name, sector, asked, wanted = line.split(" ")
        if name not in (sys.argv[1:] or [name]):
            continue
        try:
            check(name, int(sector), asked, wanted)
            print(f"ok {number} - {name}")
        except AssertionError as fault:
            failed = 1
            print(f"not ok {number} - {name}: {fault}")
    print(f"1..{len(lines)}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
