#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""write.py DIRECTORY OUT: how fast an image gets onto a disk, beside other tools, in interleaved rounds.

Run by `make bench-write`.

DIRECTORY holds what `bench/disk` made. Every tool has a separate target: a file of 8 GiB with all of its blocks,
opened O_DIRECT where the tool can. OUT.json and a table: medians; ratios are of wall times, the other tool's
by sledc's.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from measure import Contestant, Figures, figures_table, rounds, run, save, summary
from packed import Image
from server import Server

ROUNDS = int(os.environ.get("ROUNDS", "5"))
DISK = 8 << 30
ROOT_AT, ROOT_BYTES = 66 << 20, DISK - (67 << 20)
SLEDC = "build/bin/sledc"
CHANGED = (0, 5, 50)  # percent of the chunks


def main() -> None:
    """Prepares, measures, writes down."""
    directory, out = Path(sys.argv[1]), Path(sys.argv[2])
    image = Image.pack(SLEDC, directory / "disk.raw", directory / "disk.sled.zst", directory)
    targets = {name: target(directory / f"{name}.target") for name in ("sledc", "dd", "partclone", "bmaptool")}
    loop = attach(targets["partclone"])
    try:
        with Server(directory) as server:
            write = sledc(server, targets["sledc"], image, "full")
            rivals = rival_commands(server.url, targets, loop)
            limits = limit_commands(server.url, directory, image, targets["dd"])
            measured(server, [write, *rivals, *limits], ROUNDS)
            image.check(targets["sledc"])
            deltas = measure_deltas(server, targets["sledc"], image)
    finally:
        subprocess.run(["losetup", "-d", loop], check=True)
    report(out, write, rivals, limits, deltas)


def target(path: Path) -> Path:
    """A file with all of its blocks, as a disk has them."""
    if not path.exists() or path.stat().st_blocks * 512 < DISK:
        subprocess.run(
            ["dd", "if=/dev/zero", f"of={path}", "bs=4M", f"count={DISK >> 22}", "oflag=direct", "status=none"],
            check=True,
        )
    return path


def attach(path: Path) -> str:
    """The root partition of a target, as the device that partclone wants."""
    command = [
        "losetup",
        "--find",
        "--show",
        "--direct-io=on",
        "--offset",
        str(ROOT_AT),
        "--sizelimit",
        str(ROOT_BYTES),
        str(path),
    ]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def sledc(server: Server, path: Path, image: Image, mode: str) -> Contestant:
    """Like the others it neither discards nor reads back."""
    url = f"{server.url}/{image.path.name}"
    words = " ".join([f"digest={image.digest}", *image.signed, f"mode={mode}"])
    command = f"{SLEDC} write file={path} image={url} {words} gaps=keep verify=none"
    return Contestant("sledc", f"SLED_KEYS={image.key} {command} >/dev/null")


def rival_commands(url: str, targets: dict[str, Path], loop: str) -> list[Contestant]:
    """Each as its documentation recommends, with its fastest options."""
    direct = "bs=4M iflag=fullblock oflag=direct conv=notrunc,fsync status=none"
    restore = f"partclone.restore -q -L /dev/null -s - -O {loop} 2>/dev/null"
    return [
        Contestant("dd", f"curl -sSf {url}/disk.raw.zst | zstd -dc | dd of={targets['dd']} {direct}"),
        Contestant("partclone", f"curl -sSf {url}/root.pcl.zst | zstdcat | {restore} && sync {loop}"),
        Contestant("bmaptool", f"bmaptool -q copy --bmap {url}/clean.bmap {url}/clean.raw.zst {targets['bmaptool']}"),
    ]


def limit_commands(url: str, directory: Path, image: Image, path: Path) -> list[Contestant]:
    """What the machine can do at best, each alone: write the used bytes, receive the frames, decode and hash them."""
    image.split(directory / "frames.zst", directory / "used.bin")
    fio = (
        f"fio --name=w --filename={path} --rw=write --bs=1M --iodepth=8 --ioengine=io_uring --direct=1"
        f" --size={image.used} --end_fsync=1"
    )
    return [
        Contestant("device", f"{fio} --output=/dev/null"),
        Contestant("loopback", f"curl -sSf -o /dev/null {url}/frames.zst"),
        Contestant("cpu", f"zstd -tq {directory}/frames.zst && openssl dgst -sha256 {directory}/used.bin >/dev/null"),
    ]


def measured(server: Server, contestants: list[Contestant], count: int) -> None:
    """Runs the rounds; counts what each contestant was sent in its last run."""
    for contestant in contestants:
        if contestant.prepare:
            run(contestant.prepare)
        before = server.sent()
        run(contestant.command)  # warm-up, not counted
        contestant.sent = server.sent() - before
    rounds(contestants, count)


def measure_deltas(server: Server, path: Path, image: Image) -> Figures:
    """A disk with some wrong chunks, corrected by difference and in full."""
    found = {}
    for percent in CHANGED:
        for mode in ("delta", "full"):
            one = sledc(server, path, image, mode)
            one.name = f"{mode} {percent} %"
            one.prepare = f"{sys.executable} bench/spoil.py {image.path} {percent} {path}"
            measured(server, [one], max(1, ROUNDS // 2))
            image.check(path)
            found[one.name] = summary(one)
    return found


def report(out: Path, write: Contestant, rivals: list[Contestant], limits: list[Contestant], deltas: Figures) -> None:
    """JSON, table, plot."""
    own, others = summary(write), {one.name: summary(one) for one in rivals}
    bounds = {one.name: summary(one) for one in limits}
    bounds["cpu"]["wall"] = round(bounds["cpu"]["cpu"] / (os.cpu_count() or 1), 3)
    largest = max(bounds, key=lambda name: bounds[name]["wall"])
    ratios = {name: round(one["wall"] / own["wall"], 2) for name, one in others.items()}
    ratios |= {
        "bound": round(own["wall"] / bounds[largest]["wall"], 2),
        "cpu": round(own["cpu"] / bounds["cpu"]["cpu"], 2),
    }
    found = {
        "rounds": ROUNDS,
        "cores": os.cpu_count(),
        "sledc": own,
        "rivals": others,
        "limits": bounds,
        "largest_limit": largest,
    }
    save(out, found | {"delta": deltas, "ratios": ratios})
    print(
        figures_table(
            {"sledc": own} | others | {f"limit: {name}": one for name, one in bounds.items()} | deltas,
            ratios,
            "MB sent",
        )
    )
    print(
        f"largest limit: {largest}; sledc takes {ratios['bound']} times as long,"
        f" and {ratios['cpu']} times the CPU of decoding and hashing"
    )


if __name__ == "__main__":
    main()
