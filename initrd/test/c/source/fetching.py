# SPDX-License-Identifier: Apache-2.0
"""Runs of tool_fetch against servers, and what is expected of them. $SLED_TOOLS: builds of tool_*.c."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from server import Handler, Pki, Request

FETCH = Path(os.environ["SLED_TOOLS"]) / "tool_fetch"
MIB = 1 << 20
FILE = hashlib.shake_128(b"file").digest(20 * MIB + 12345)
work = Path(tempfile.mkdtemp())
pki = Pki(work)


class Fetched(NamedTuple):
    """How one run of tool_fetch went."""

    code: int
    error: str
    pieces: list[tuple[int, int]]
    received: int
    wanted: int
    out: bytes


def fetch(mode: str, *urls: str, seed: int = 0, streams: int = 0, idle: int = 20) -> Fetched:
    """One run, with a deadline."""
    out = work / "out"
    run = subprocess.run(
        [FETCH, mode, ",".join(urls), out, str(seed), str(streams), str(idle)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "SLED_CA": str(pki.ca)},
    )
    *lines, last = run.stdout.splitlines() or ["received 0 of 0 wanted 0"]
    words = last.split()
    pieces = [(int(at), int(size)) for at, size in (line.split() for line in lines)]
    return Fetched(run.returncode, run.stderr, pieces, int(words[1]), int(words[5]), out.read_bytes())


def expect_all(got: Fetched, more: int = 1) -> None:
    """The whole file, each byte delivered once; `more` bytes came besides (its size is learnt from one)."""
    assert got.code == 0, got.error
    assert got.out == FILE
    assert sum(size for _, size in got.pieces) == len(FILE) and len({at for at, _ in got.pieces}) == len(got.pieces)
    assert got.received == len(FILE) + more, f"{got.received - len(FILE)} bytes too many"


def expect_fault(got: Fetched, *words: str) -> None:
    """Exit code 6, these words."""
    assert got.code == 6, f"exit {got.code}: {got.error}"
    for word in words:
        assert word in got.error, f"no {word!r} in {got.error!r}"


def whole(request: Request) -> None:
    """Serves the file as it should be."""
    request.file(FILE)


def says(status: int, **headers: str) -> Handler:
    """Always that answer."""
    return lambda request: request.answer(status, b"no", **headers)


def partial(first: int, last: int, extra: bytes = b"", length: int | None = None, total: int = len(FILE)) -> bytes:
    """Head of a 206 answer."""
    size = last - first + 1 if length is None else length
    return b"HTTP/1.1 206 Partial\r\nContent-Range: bytes %d-%d/%d\r\nContent-Length: %d\r\n%s\r\n" % (
        first,
        last,
        total,
        size,
        extra,
    )


def bent(make: object) -> Handler:
    """A right answer for the size, then what `make` makes of the range."""

    def handler(request: Request) -> None:
        first, last = request.range(len(FILE)) or (0, 0)
        if last == 0:
            request.file(FILE)
        else:
            request.raw(make(first, last))  # type: ignore[operator]

    return handler
