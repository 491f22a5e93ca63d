# SPDX-License-Identifier: Apache-2.0
"""The readers of images on the same images, seeded: the same exit code, and the same disk.

usage: run.py SLEDC GO [--seconds N | --cases N] [--seed S] [--first N] [--keep FOLDER]

Readers of the file: `sledc verify`, reader/go, reader/image.py. What they accept, `zstd -dc` must decode to the same
disk, or refuse a frame whose matches reach beyond its window. Readers of chunks: `sledc write` onto a file full of
something else, and the two others with their --chunks. SLEDC is the build for tests. A disagreement is printed with its
number, with which --first repeats it.
"""

from __future__ import annotations

import argparse
import base64
import collections
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "contract/vectors/image"), str(TOP / "contract/reader")]
import changes  # noqa: E402
import form  # noqa: E402
import image  # noqa: E402

KEYS = TOP / "contract/vectors/image/keys/test.pub"
EXPECTED = {0, 3, 5}


@dataclass
class Readers:
    """The programs, and a folder for files."""

    sledc: Path
    go: Path
    work: Path

    def call(self, *words: object) -> int:
        """Exit code; what a program said of a crash is shown."""
        env = {**os.environ, "SLED_FLOOR": str(self.work / "none"), "SLED_KEYS": str(KEYS)}
        done = subprocess.run([str(w) for w in words], capture_output=True, check=False, timeout=120, env=env)
        if done.returncode not in EXPECTED:
            print(f"{words[0]}: exit {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}")
        return done.returncode

    def python(self, digest: str, raw: Path, chunks: bool) -> int:
        """Exit code of the reader in Python, which is called and not started."""
        try:
            image.run(self.work / "image", digest, raw, chunks)
        except image.Refused as refusal:
            return refusal.code
        return 0

    def of_the_file(self, digest: str, beyond: bool) -> tuple[dict[str, int], dict[str, str]]:
        """Codes, and SHA-256 of the disks."""
        file, plain = self.work / "image", self.work / "zstd.raw"
        codes = {
            "sledc verify": self.call(self.sledc, "verify", f"in={file}", f"digest={digest}"),
            "go": self.call(self.go, "-digest", digest, "-raw", self.work / "go.raw", file),
            "image.py": self.python(digest, self.work / "python.raw", chunks=False),
        }
        if set(codes.values()) != {0}:
            return codes, {}
        with plain.open("wb") as out:
            zstd = subprocess.run(["zstd", "-qdc", str(file)], stdout=out, stderr=subprocess.DEVNULL, check=False)
        if zstd.returncode != 0 and beyond:  # it must not decode to something else
            return codes, {}
        codes["zstd -dc"] = zstd.returncode
        return codes, {name: sum_of(self.work / f"{name}.raw") for name in ("go", "python", "zstd")}

    def of_chunks(self, digest: str) -> tuple[dict[str, int], dict[str, str]]:
        """The same."""
        file, go, written = self.work / "image", self.work / "go.raw", self.work / "written.raw"
        written.unlink(missing_ok=True)
        found = self.call(self.go, "-chunks", "-digest", digest, "-raw", go, file)
        if found == 0:
            written.write_bytes(b"\xa5" * go.stat().st_size)
        place = [f"image=file://{file}", f"file={written}", f"digest={digest}", *signed(digest)]
        codes = {
            "sledc write": self.call(self.sledc, "write", *place, "mode=full", "gaps=zero", "verify=none"),
            "go": found,
            "image.py": self.python(digest, self.work / "python.raw", chunks=True),
        }
        if set(codes.values()) != {0}:
            return codes, {}
        return codes, {name: sum_of(self.work / f"{name}.raw") for name in ("written", "go", "python")}


def signed(digest: str) -> list[str]:
    """Operands of `sledc write` with the signature of an image of that digest, whatever is in it."""
    statement = f"image 2 name=case line=case signed=2026-11-23T15:50:00Z digest={digest}"
    signature = base64.b64encode(form.KEY.sign(statement.encode())).decode()
    return ["name=case", f"statement={quote(statement)}", f"signature={quote(signature, safe='')}"]


def sum_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def disagreement(readers: Readers, case: changes.Case) -> tuple[int, str]:
    """Code of the readers of the file, and what they do not agree in."""
    (readers.work / "image").write_bytes(case.data)
    faults = []
    first, first_disks = readers.of_the_file(case.digest, case.beyond)
    second, second_disks = readers.of_chunks(case.digest)
    if len(set(first.values())) > 1 or first["go"] not in EXPECTED:
        faults.append(f"readers of the file: {first}")
    if len(set(second.values())) > 1 or second["go"] not in EXPECTED:
        faults.append(f"readers of chunks: {second}")
    if len({*first_disks.values(), *second_disks.values()}) > 1:
        faults.append(f"disks: {first_disks} {second_disks}")
    if first["go"] == 0 and second["go"] != 0:
        faults.append(f"only readers of the file accept it: {first} {second}")
    return first["go"], "; ".join(faults)


def run(given: argparse.Namespace, work: Path) -> int:
    """Number of disagreements."""
    readers = Readers(given.sledc, given.go, work)
    end = time.monotonic() + given.seconds if given.seconds else float("inf")
    seen: collections.Counter[str] = collections.Counter()
    number, wrong = given.first, 0
    while time.monotonic() < end and (not given.cases or number < given.first + given.cases):
        case = changes.case(given.seed, number)
        code, fault = disagreement(readers, case)
        seen[f"{case.name} {code}"] += 1
        if fault:
            wrong += 1
            print(f"seed {given.seed} case {number} ({case.name}): {fault}", flush=True)
            if given.keep:
                given.keep.mkdir(parents=True, exist_ok=True)
                (given.keep / f"{given.seed}-{number}.raw.zst").write_bytes(case.data)
        number += 1
    for name, count in sorted(seen.items()):
        print(f"{name}: {count}")
    print(f"{number - given.first} images, seed {given.seed}: {wrong} disagreements")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description="compares the readers of images")
    parser.add_argument("sledc", type=Path)
    parser.add_argument("go", type=Path)
    parser.add_argument("--seconds", type=int, default=0)
    parser.add_argument("--cases", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for images on which they disagree")
    given = parser.parse_args()
    if not given.seconds and not given.cases:
        parser.error("--seconds or --cases is required")
    with tempfile.TemporaryDirectory() as work:
        return 1 if run(given, Path(work)) else 0


if __name__ == "__main__":
    sys.exit(main())
