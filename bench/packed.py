# SPDX-License-Identifier: Apache-2.0
"""The images that are measured, and what is inside them, as the reference reader sees it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

sys.path.insert(0, str(Path(__file__).parent.parent / "contract" / "reader"))
import image as reader

__all__ = ["Image", "chunks", "index_of", "reader"]


def index_of(path: Path) -> reader.Index:
    """Of an image file, as the contract has it."""
    with path.open("rb") as file:
        return reader.open_image(file)


def chunks(path: Path) -> Iterator[tuple[int, int]]:
    """Of an image file: disk offset and used bytes of each. The first granule of each is taken to be used."""
    for chunk in index_of(path).chunks:
        if next(used for used, _, _ in chunk.granules()):
            yield chunk.offset, chunk.used_bytes()


@dataclass
class Image:
    """A packed disk."""

    path: Path
    key: Path  # public
    digest: str
    used: int  # bytes
    sledc: str
    signed: list[str]  # operands of `write`

    @classmethod
    def pack(cls, sledc: str, disk: Path, path: Path, directory: Path) -> Self:
        """Packs the disk, unless that was done with this very program."""
        private, public = directory / "bench.key", directory / "bench.pub"
        if not private.exists():
            subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", private], check=True)
            subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True)
        if not path.exists() or path.stat().st_mtime < max(disk.stat().st_mtime, Path(sledc).stat().st_mtime):
            words = [sledc, "pack", f"in={disk}", f"out={path}", "sector=512"]  # not all have a partition table
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        found = json.loads(
            subprocess.run([sledc, "inspect", f"in={path}", "json=yes"], check=True, capture_output=True).stdout
        )
        words = [sledc, "sign", f"in={path}", f"name={disk.stem}", f"key={private}"]
        signed = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split("operands ")[1].split()
        return cls(path, public, found["digest"], found["used_bytes"], sledc, signed)

    def index(self) -> reader.Index:
        """As the contract has it."""
        return index_of(self.path)

    def split(self, frames: Path, used: Path) -> None:
        """What has to be fetched and decoded, and what has to be hashed and written: each in a separate file."""
        index = self.index()
        with self.path.open("rb") as file, frames.open("wb") as out, used.open("wb") as plain:
            for chunk in index.chunks:
                file.seek(chunk.at)
                out.write(file.read(chunk.frame))
                data = reader.read_chunk(file, chunk)
                for is_used, start, end in chunk.granules():
                    if is_used:
                        plain.write(data[start:end])

    def check(self, target: Path) -> None:
        """The target has the content of the image, as the reference reader decodes it, not sledc."""
        index = self.index()
        with self.path.open("rb") as file, target.open("rb") as disk:
            for chunk in index.chunks:
                data = reader.read_chunk(file, chunk)
                disk.seek(chunk.offset)
                there = disk.read(len(data))
                if any(there[start:end] != data[start:end] for is_used, start, end in chunk.granules() if is_used):
                    raise SystemExit(f"bench: {target} is wrong at byte {chunk.offset}")
