#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pack.py DIRECTORY OUT: how fast a disk becomes an image, beside other tools, in the same interleaved rounds.

Run by `make bench-pack`.

DIRECTORY holds what `bench/disk` made; all read the same disk, at zstd level 3, on all cores. partclone packs the root
filesystem only.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from measure import Contestant, figures_table, rounds, run, save, summary

ROUNDS = int(os.environ.get("ROUNDS", "5"))
SLEDC = "build/bin/sledc"
ROOT_AT, ROOT_BYTES = 66 << 20, (8 << 30) - (67 << 20)


def main() -> None:
    """Prepares, measures, writes down."""
    directory, out = Path(sys.argv[1]), Path(sys.argv[2])
    disk, made = directory / "disk.raw", directory / "packed.tmp"
    attach = [
        "losetup",
        "--find",
        "--show",
        "--read-only",
        "--offset",
        str(ROOT_AT),
        "--sizelimit",
        str(ROOT_BYTES),
        str(disk),
    ]
    loop = subprocess.run(attach, check=True, capture_output=True, text=True).stdout.strip()
    contestants = [
        Contestant("sledc", f"{SLEDC} pack in={disk} out={made} >/dev/null"),
        Contestant(
            "partclone", f"partclone.extfs -c -q -L /dev/null -s {loop} -o - 2>/dev/null | zstd -3 -T0 -qf -o {made}"
        ),
        Contestant("zstd", f"zstd -3 -T0 -qf -o {made} {disk}"),
    ]
    try:
        for one in contestants:
            run(one.command)  # warm-up, not counted
            one.sent = made.stat().st_size
        rounds(contestants, ROUNDS)
    finally:
        subprocess.run(["losetup", "-d", loop], check=True)
        made.unlink(missing_ok=True)
    report(out, contestants)


def report(out: Path, contestants: list[Contestant]) -> None:
    """JSON and table. `bytes` is the size of the file made."""
    figures = {one.name: summary(one) for one in contestants}
    own = figures["sledc"]
    rivals = {name: one for name, one in figures.items() if name != "sledc"}
    ratios = {name: round(one["wall"] / own["wall"], 2) for name, one in rivals.items()}
    save(out, {"rounds": ROUNDS, "cores": os.cpu_count(), "sledc": own, "rivals": rivals, "ratios": ratios})
    print(figures_table(figures, ratios, "MB file"))


if __name__ == "__main__":
    main()
