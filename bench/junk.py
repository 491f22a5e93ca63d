#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""junk.py MAP DEVICE BYTES: fills free ranges of a filesystem with copies of its used blocks.

MAP is written by `partclone -D`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

PIECE = 1 << 20


def ranges(text: str, kind: str) -> Iterator[tuple[int, int]]:
    """Offset and size in bytes of each range of the map with that status: "+" used, "?" free."""
    rows = [line.split() for line in text.splitlines() if line.startswith("0x")]
    for row in rows:
        if len(row) == 3 and row[2] == kind:
            yield int(row[0], 16), int(row[1], 16)


def pieces(text: str, kind: str) -> Iterator[tuple[int, int]]:
    """The same in pieces of at most 1 MiB."""
    for start, size in ranges(text, kind):
        for at in range(start, start + size, PIECE):
            yield at, min(PIECE, start + size - at)


def main() -> None:
    """Stops when enough is written."""
    text = Path(sys.argv[1]).read_text(encoding="ascii")
    device = os.open(sys.argv[2], os.O_RDWR)
    left = int(sys.argv[3])
    used = cycle(pieces(text, "+"))
    for start, size in pieces(text, "?"):
        if left <= 0:
            break
        data = b""
        while len(data) < size:
            at, length = next(used)
            data += os.pread(device, length, at)
        left -= os.pwrite(device, data[:size], start)
    os.fsync(device)


if __name__ == "__main__":
    main()
