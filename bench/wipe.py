#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wipe.py DIRECTORY OUT: how fast disks are overwritten and read back, beside fio on the same disks, in turns.

Run by `make bench-wipe`.

The disks are loop devices over files with all of their blocks, opened O_DIRECT by both; sledc is the build for tests,
which takes them in place of disks. Of fio counts the time from its first request to its last, flush included; of sledc
that of the whole process. OUT.json and a table: medians; ratios are of times, fio's by sledc's, so that 1 is as fast as
the device.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from measure import Contestant, figures_table, rounds, run, save, summary

ROUNDS = int(os.environ.get("ROUNDS", "5"))
SIZE = int(os.environ.get("SIZE", "4096")) << 20  # of the one disk; each of the many has an eighth of it
MANY = 8
SPARSE = 1 << 40
SLEDC = "build/obj/sledc-test/plain/sledc"
DEPTH = 8  # requests of 1 MiB in flight at fio, as of sledc with up to eight disks


def main() -> None:
    """Prepares, measures, writes down."""
    directory, out = Path(sys.argv[1]), Path(sys.argv[2])
    with ExitStack() as stack:
        one = attach(stack, written(directory / "wipe.one", SIZE))
        many = [attach(stack, written(directory / f"wipe.{i}", SIZE // MANY)) for i in range(MANY)]
        sparse = attach(stack, hollow(stack, directory / "wipe.sparse"))
        contestants = [
            fio("write", directory, "write", [one]),
            fio("write, new bytes", directory, "write", [one], "--refill_buffers=1"),
            Contestant("overwrite", wipe([one], "clear", "sample")),
            fio("read", directory, "read", [one]),
            Contestant("overwrite, full", wipe([one], "clear", "full")),
            fio("write 8", directory, "write", many),
            Contestant("overwrite 8", wipe(many, "clear", "sample")),
            Contestant("discard 1 TiB", wipe([sparse], "empty", "sample")),
        ]
        for contestant in contestants:
            run(contestant.command)  # warm-up, not counted
        rounds(contestants, ROUNDS)
    report(out, contestants)


def fio(name: str, directory: Path, way: str, loops: list[str], more: str = "") -> Contestant:
    """One job for each device."""
    log = directory / "wipe.fio.json"
    words = f"fio --ioengine=io_uring --direct=1 --bs=1M --iodepth={DEPTH} --rw={way} --end_fsync=1 {more}"
    jobs = " ".join(f"--name=j{i} --filename={loop}" for i, loop in enumerate(loops))

    def seconds() -> float:
        return max(float(job[way]["runtime"]) for job in json.loads(log.read_text())["jobs"]) / 1000

    return Contestant(name, f"{words} --output-format=json --output={log} {jobs}", clock=seconds)


def written(path: Path, size: int) -> Path:
    """A file with all of its blocks, as a disk has them."""
    if not path.exists() or path.stat().st_size != size or path.stat().st_blocks * 512 < size:
        path.unlink(missing_ok=True)
        words = ["dd", "if=/dev/zero", f"of={path}", "bs=4M", f"count={size >> 22}", "oflag=direct", "status=none"]
        subprocess.run(words, check=True)
    return path


def hollow(stack: ExitStack, path: Path) -> Path:
    """A file of 1 TiB without a block."""
    path.unlink(missing_ok=True)
    with path.open("wb") as file:
        file.truncate(SPARSE)
    stack.callback(path.unlink)
    return path


def attach(stack: ExitStack, path: Path) -> str:
    """The file as a device."""
    words = ["losetup", "--find", "--show", "--direct-io=on", str(path)]
    loop = subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
    stack.callback(subprocess.run, ["losetup", "-d", loop], check=True)
    return loop


def wipe(loops: list[str], level: str, verify: str) -> str:
    """All of these, whatever the selector."""
    return f"SLED_TEST_DISK={':'.join(loops)} {SLEDC} wipe disks=all level={level} verify={verify} >/dev/null"


def report(out: Path, contestants: list[Contestant]) -> None:
    """JSON and a table. What `verify=full` adds to an overwrite is compared with reading."""
    figures = {one.name: summary(one) for one in contestants}
    for one in figures.values():
        del one["bytes"]
    wall = {name: one["wall"] for name, one in figures.items()}
    ratios = {
        "overwrite": round(wall["write"] / wall["overwrite"], 2),
        "overwrite, new bytes": round(wall["write, new bytes"] / wall["overwrite"], 2),
        "verify=full": round(wall["read"] / (wall["overwrite, full"] - wall["overwrite"]), 2),
        "both": round((wall["write"] + wall["read"]) / wall["overwrite, full"], 2),
        "overwrite 8": round(wall["write 8"] / wall["overwrite 8"], 2),
    }
    save(out, {"rounds": ROUNDS, "cores": os.cpu_count(), "bytes": SIZE, "figures": figures, "ratios": ratios})
    print(figures_table({name: {**one, "bytes": SIZE} for name, one in figures.items()}, {}, "MB"))
    print(", ".join(f"{name}: {ratio} times as fast as fio" for name, ratio in ratios.items()))
    print(f"discard of 1 TiB: {wall['discard 1 TiB']} s")


if __name__ == "__main__":
    main()
