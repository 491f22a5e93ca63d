# SPDX-License-Identifier: Apache-2.0
"""Filesystems that were worked on for days, packed and written: every file comes back, and the filesystem is clean.

As root: test_age.py [--seeds N] [--first N] [KIND...]; $SLEDC. Prints TAP. A third of the seeds write a delta onto the
disk as it was after half of the days, a third write to a larger disk.
"""

from __future__ import annotations

import argparse
import collections
import os
import re
import shutil
import sys
import traceback
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "disks"), str(HERE.parent / "write")]
import age  # noqa: E402
import disks  # noqa: E402
from images import Image, expect, make_key, sledc, work  # noqa: E402

# Of each kind in `make test`: at least one full write, one delta, one larger disk.
SEEDS = 9 if os.environ.get("LONG") else 3
LARGER = 5 * disks.MIB
disk, target, half, path = work / "disk", work / "target", work / "half", work / "image"
kept: collections.Counter[str] = collections.Counter()


def check(kind: str, where: Path) -> dict[str, tuple[object, ...]]:
    """The filesystem's own check; what is in it."""
    with disks.loop(where, 512, 0, age.SIZES[kind] * disks.MIB) as device:
        disks.check_content(disks.Part(kind, 0, age.SIZES[kind] * disks.MIB, {}), device)
    return age.contents(kind, where)


def pack(size: int) -> Image:
    """Signed. Counts filesystems that are kept whole, by reason."""
    done = sledc("pack", f"in={disk}", f"out={path}", "level=1")
    expect(done, 0)
    image = Image.read(path)
    if sum(chunk.used.bit_count() for chunk in image.chunks) * 4096 >= size:
        reason = re.search(r"all of it is kept: (.*)", done.stderr)
        kept[re.sub(r"\d+", "N", reason[1]) if reason else "without a warning"] += 1
        assert not reason or "partclone." not in reason[1], f"partclone failed: {reason[1]}"
    return image


def there_and_back(kind: str, seed: int) -> int:
    """Number of files."""
    way = ("full", "delta", "larger")[seed % 3]
    life = age.life(kind, disk, seed)
    life.live((lambda: shutil.copyfile(disk, half)) if way == "delta" else None)
    before = check(kind, disk)
    image = pack(life.size)
    if way == "delta":
        half.rename(target)
    else:
        disks.junk(target, life.size + (LARGER if way == "larger" else 0), seed + 1000)
    mode = "delta" if way == "delta" else "full"
    words = [
        f"file={target}",
        f"image=file://{path}",
        f"digest={image.digest}",
        *image.signed,
        f"mode={mode}",
        "gaps=keep",
    ]
    expect(sledc("write", *words, "verify=full"), 0)
    assert not image.wrong(target), "used blocks differ"
    after = check(kind, target)
    lost = [name for name in before if after.get(name) != before[name]]
    assert not lost and len(after) == len(before), f"{len(lost)} of {len(before)} files differ: {lost[:5]}"
    return len(before)


def run_kind(kind: str, seeds: range) -> tuple[int, list[str]]:
    """Files, and the faults by seed."""
    files, faults = 0, []
    for seed in seeds:
        try:
            files += there_and_back(kind, seed)
        except Exception:
            fault = traceback.format_exc()  # a check of a filesystem may have a line for each of its blocks
            faults.append(f"{kind}, seed {seed}: {fault[:3000]}".strip().replace("\n", "\n# "))
    return files, faults


def main() -> int:
    parser = argparse.ArgumentParser(description="packs and writes filesystems that were worked on")
    parser.add_argument("kinds", nargs="*", default=list(age.VARIANTS))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    make_key()
    failed = 0
    for number, kind in enumerate(given.kinds, 1):
        kept.clear()
        files, faults = run_kind(kind, range(given.first, given.first + given.seeds))
        failed += bool(faults)
        for fault in faults:
            print(f"# {fault}")
        word = "not ok" if faults else "ok"
        print(f"{word} {number} - {kind}: {given.seeds} seeds, {len(faults)} failed, {files} files", flush=True)
        for reason, count in kept.items():
            print(f"# kept whole {count} times: {reason}")
    print(f"1..{len(given.kinds)}")
    return int(failed > 0)


if __name__ == "__main__":
    try:
        code = main()
    finally:
        shutil.rmtree(work)
    sys.exit(code)
