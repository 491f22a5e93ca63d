#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""soak.py DIRECTORY OUT: many loads of a small image by `sledc write`, with faults by seed, each failure explained.

Run by `make soak`. LOADS=200 SEED=1. DIRECTORY keeps the image. Each load is a line of OUT.jsonl; those that are there
are not repeated. OUT.json has the figures. Ends with 1 if the contract does not explain how a load went.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from measure import save
from network import PATIENCE, Fault, Network
from packed import Image, reader
from server import Server

SLEDC = "build/bin/sledc"
MIB = 1 << 20
DISK = 16 * MIB
AT_ONCE = 2
KINDS = ("flip", "cut", "kill", "server")
# Of the first write of a load and of each further one, the chance of a fault; the last one has none.
CHANCES = (0.4, 0.3, 0.3, 0.0)
FLIPPED = 0.15  # of the disks, after the write
Line = dict[str, Any]


class Content:
    """The image, as the reference reader has it."""

    def __init__(self, image: Image) -> None:
        self.image, self.file = image, image.path.read_bytes()
        with image.path.open("rb") as file:
            self.chunks = [(chunk, list(runs(chunk, reader.read_chunk(file, chunk)))) for chunk in image.index().chunks]
        trailer = len(self.file) - 17 - 8 * int.from_bytes(self.file[-9:-5], "little") - 136
        self.index_at = int.from_bytes(self.file[trailer + 16 : trailer + 24], "little") - 8

    def lacking(self, disk: Path) -> list[reader.Chunk]:
        """Chunks that the disk does not hold."""
        with disk.open("rb", buffering=0) as file:
            there = file.fileno()
            return [
                chunk
                for chunk, parts in self.chunks
                if any(os.pread(there, len(data), at) != data for at, data in parts)
            ]

    def place(self, chance: random.Random, disk: Path) -> int:
        """A byte of the file that a write to this disk needs: of the end, the first chunk or one that is lacking."""
        needed = {chunk.at: chunk for chunk in [self.chunks[0][0], *self.lacking(disk)]}
        if chance.random() < 0.3:
            return chance.randrange(self.index_at, len(self.file))
        chunk = chance.choice(list(needed.values()))
        return chance.randrange(chunk.at, chunk.at + chunk.frame)

    def verdict(self, fault: Fault) -> int:
        """The code of the reference reader for the file with that bit changed."""
        changed = bytearray(self.file)
        changed[fault.at] ^= 1 << fault.bit
        file = io.BytesIO(changed)
        try:
            for chunk in reader.open_image(file, self.image.digest).chunks:
                if chunk.at <= fault.at < chunk.at + chunk.frame:
                    reader.read_chunk(file, chunk)
        except reader.Refused as refused:
            return refused.code
        return 0


def runs(chunk: reader.Chunk, data: bytes) -> Iterator[tuple[int, bytes]]:
    """Used bytes of a chunk, each run with its place on the disk."""
    for used, granules in groupby(chunk.granules(), key=lambda granule: granule[0]):
        spans = list(granules)
        start, end = spans[0][1], spans[-1][2]
        if used:
            yield chunk.offset + start, data[start:end]


def make_disk(path: Path) -> Path:
    """GPT, and an ext4 with files of random bytes, of text and of zeros."""
    if path.exists():
        return path
    chance = random.Random(path.name)
    with tempfile.TemporaryDirectory() as tree, path.with_suffix(".part").open("wb") as made:
        for i in range(12):
            data = chance.randbytes(chance.randrange(1, 400_000))
            (Path(tree) / f"file{i}").write_bytes(
                data if i % 3 == 0 else data.hex().encode() if i % 3 == 1 else bytes(i << 14)
            )
        made.truncate(DISK)
        for words, given in (
            (["sfdisk", "--quiet", made.name], f"label: gpt\nstart=2048, size={(DISK >> 9) - 4096}\n"),
            (
                ["mke2fs", "-q", "-t", "ext4", "-d", tree, "-E", f"offset={MIB}", made.name, f"{(DISK >> 10) - 2048}k"],
                "",
            ),
        ):
            subprocess.run(words, input=given, text=True, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
    return path.with_suffix(".part").rename(path)


class Soak:
    """What the loads share."""

    def __init__(self, content: Content, server: Server, seed: int, home: Path) -> None:
        self.content, self.server, self.seed, self.home = content, server, seed, home
        where = urlsplit(server.url)
        self.upstream = (str(where.hostname), int(where.port or 80))

    def kill_server(self) -> None:
        """SIGKILL of the processes of nginx that have connections; it starts new ones."""
        for worker in self.server.workers():
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)

    def write(self, disk: Path, chance: random.Random, fault: Fault) -> Line:
        """One `sledc write`, with this fault, and whether the disk is as it must be then."""
        image, begin = self.content.image, time.monotonic()
        delay = chance.uniform(0, 0.15)
        with Network(self.upstream, fault) as network:
            words = [SLEDC, "write", f"file={disk}", f"image={network.url}/{image.path.name}", f"digest={image.digest}"]
            words += [*image.signed, f"keys={image.key}"]
            process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            kill = self.kill_server if fault.kind == "server" else threading.Timer(delay, process.kill).start
            network.begin(kill)
            try:
                out = process.communicate(timeout=PATIENCE)[0]
            except subprocess.TimeoutExpired:
                process.kill()
                out = process.communicate()[0] + f"no end within {PATIENCE} s"
        # A process that ended before it was to be killed had no fault.
        struck = network.struck and (fault.kind != "kill" or process.returncode != 0)
        lacking = self.content.lacking(disk)
        line = {"fault": fault.kind, "at": fault.at, "bit": fault.bit, "struck": struck, "code": process.returncode}
        line |= {"seconds": round(time.monotonic() - begin, 3), "right": len(self.content.chunks) - len(lacking)}
        line["resumed"] = "interrupted" in out
        if why := self.unexplained(fault, struck, process.returncode, network):
            line["unexplained"] = f"{why}: {out[-400:]}"
        elif lacking and (process.returncode == 0 or starts(disk)):
            line["unexplained"] = f"the disk can start, but lacks {len(lacking)} chunks: {out[-400:]}"
        return line

    def unexplained(self, fault: Fault, struck: bool, code: int, network: Network) -> str:
        """What is not as contract/exit-codes.md has it for this fault."""
        wanted = 0
        if struck and fault.kind == "kill":
            wanted = -signal.SIGKILL
        elif struck and fault.kind == "flip":
            wanted = self.content.verdict(fault)
        elif struck and fault.kind == "cut" and not network.has_reconnected():
            return "cut, but no second connection"
        return "" if code == wanted else f"code {code}, not {wanted}"

    def verify(self, disk: Path, wanted: int) -> Line:
        """One `sledc verify`."""
        image = self.content.image
        words = [SLEDC, "verify", f"in={image.path}", f"digest={image.digest}", f"file={disk}"]
        run = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE)
        line: Line = {"code": run.returncode}
        if run.returncode != wanted:
            line["unexplained"] = f"verify: code {run.returncode}, not {wanted}: {run.stdout}{run.stderr}"
        return line

    def flip(self, disk: Path, chance: random.Random) -> Line:
        """One bit of a used byte of the disk changes: verify finds it, and the next write corrects it."""
        start, data = chance.choice(chance.choice(self.content.chunks)[1])
        at, bit = start + chance.randrange(len(data)), chance.randrange(8)
        with disk.open("r+b") as file:
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 1 << bit]))
        return {"at": at, "bit": bit, **self.verify(disk, 5)}

    def load(self, number: int) -> Line:
        """Writes until one succeeds; then verify, and some disks rot."""
        chance, begin = random.Random(f"{self.seed} {number}"), time.monotonic()
        disk = self.home / f"disk{number}"
        with disk.open("wb") as file:
            file.truncate(DISK)
            if chance.random() < 0.5:  # of another system
                file.write(b"\xa5" * DISK)
        line: Line = {"load": number, "writes": []}
        for share in CHANCES:
            kind = chance.choice(KINDS) if chance.random() < share else "none"
            at = self.content.place(chance, disk) if kind == "flip" else chance.randrange(len(self.content.file))
            line["writes"].append(self.write(disk, chance, Fault(kind, at, chance.randrange(8))))
            if line["writes"][-1]["code"] == 0:
                break
        line["verify"] = self.verify(disk, 0)
        if chance.random() < FLIPPED:
            line["rot"] = self.flip(disk, chance)
            line["writes"].append(self.write(disk, chance, Fault("none")))
            line["again"] = self.verify(disk, 0)
        disk.unlink()
        return line | {"seconds": round(time.monotonic() - begin, 3)}


def starts(disk: Path) -> bool:
    """Whether a firmware could start from it, or find its table."""
    with disk.open("rb") as file:
        first = file.read(MIB)
    return first[510:512] == b"\x55\xaa" or b"EFI PART" in first


def reasons(line: Line) -> list[str]:
    """What is unexplained in a load."""
    parts = [*line["writes"], line["verify"], line.get("rot", {}), line.get("again", {})]
    return [f"load {line['load']}: {part['unexplained']}" for part in parts if "unexplained" in part]


def continued(log: Path, header: Line, loads: int) -> dict[int, Line]:
    """Loads that are in the log, which starts with what they depend on. A line that was cut off is removed."""
    there = log.read_bytes() if log.exists() else b""
    whole = there[: there.rfind(b"\n") + 1]
    lines = [json.loads(line) for line in whole.splitlines()]
    if lines and lines[0] != header:
        sys.exit(f"soak: {log} is of {lines[0]}, but this is {header}: move it away to start another one")
    if lines:
        os.truncate(log, len(whole))
    else:
        log.write_text(json.dumps(header) + "\n", encoding="ascii")
    return {line["load"]: line for line in lines[1:] if line["load"] < loads}


def is_right(write: Line, verify: Line) -> bool:
    """Written, and proven."""
    return bool(write["code"] == verify["code"] == 0)


def figures_of(lines: list[Line]) -> Line:
    """Of all loads."""
    writes = [write for line in lines for write in line["writes"]]
    struck = [write for write in writes if write["struck"]]
    flips = [write for write in struck if write["fault"] == "flip"]
    rot = [line["rot"]["code"] for line in lines if "rot" in line]
    first = [line for line in lines if is_right(line["writes"][0], line["verify"])]
    quiet = [line["writes"][0] for line in lines if not line["writes"][0]["struck"]]
    rate = AT_ONCE * len(lines) / sum(line["seconds"] for line in lines)
    return {
        "loads": len(lines),
        "right at the first attempt": len(first),
        "first-attempt rate": round(len(first) / len(lines), 4),
        "without a fault in the first attempt": len(quiet),
        "of these right at the first attempt": sum(not line["writes"][0]["struck"] for line in first),
        "right in the end": sum(
            is_right(line["writes"][-1], line["again" if "rot" in line else "verify"]) for line in lines
        ),
        "faults and codes": dict(sorted(Counter(f"{one['fault']}: {one['code']}" for one in struck).items())),
        "flips in transit": len(flips),
        "of these found": sum(write["code"] in {3, 5} for write in flips),
        "of these without an effect": sum(write["code"] == 0 for write in flips),
        "flips on disks": len(rot),
        "of those found": rot.count(5),
        "writes that continued": sum(write["resumed"] for write in writes),
        "loads per second": round(rate, 2),
        "hours for 60,000": round(60_000 / rate / 3600, 1),
        "load average": round(os.getloadavg()[0], 1),
        "unexplained": [reason for line in lines for reason in reasons(line)],
    }


def run(directory: Path, image: Image, seed: int, missing: list[int]) -> Iterator[Line]:
    """Each load as it ends."""
    with (
        tempfile.TemporaryDirectory(dir="/dev/shm") as home,
        Server(directory) as server,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        soak = Soak(Content(image), server, seed, Path(home))
        try:
            for future in as_completed([pool.submit(soak.load, number) for number in missing]):
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def main() -> None:
    """Continues, counts, explains."""
    directory, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    loads, seed = int(os.environ.get("LOADS") or "200"), int(os.environ.get("SEED") or "1")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # nginx ends too
    directory.mkdir(parents=True, exist_ok=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    log = out.with_suffix(".jsonl")
    with log.open("a", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"soak: another one writes {log}: wait for its end")
        image = Image.pack(SLEDC, make_disk(directory / "soak.raw"), directory / "soak.raw.zst", directory)
        done = continued(log, {"seed": seed, "digest": image.digest, "faults": [*CHANCES, FLIPPED]}, loads)
        for line in run(directory, image, seed, [number for number in range(loads) if number not in done]):
            done[line["load"]] = line
            file.write(json.dumps(line) + "\n")
            file.flush()
            for reason in reasons(line):
                print(f"unexplained: {reason}", flush=True)
            if len(done) % 100 == 0:
                print(f"{len(done)} of {loads}", flush=True)
    found = figures_of(list(done.values()))
    save(out, found)
    print("\n".join(f"{name:<36}  {value}" for name, value in found.items()))
    sys.exit(1 if found["unexplained"] else 0)


if __name__ == "__main__":
    main()
