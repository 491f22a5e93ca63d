#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""spoil.py IMAGE PERCENT TARGET: makes that share of the image's chunks wrong on a target that holds the image.

One granule of each chunk is changed.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

from packed import chunks

SEED = 20
GRANULE = 4096


def main() -> None:
    """The same chunks each time; through the page cache to the disk."""
    places = [offset for offset, _ in chunks(Path(sys.argv[1]))]
    draw = random.Random(SEED)
    with open(sys.argv[3], "r+b") as target:
        for offset in draw.sample(places, len(places) * int(sys.argv[2]) // 100):
            target.seek(offset)
            first = target.read(GRANULE)
            target.seek(offset)
            target.write(bytes(byte ^ 0x5A for byte in first))
        target.flush()
        os.fsync(target)
        os.posix_fadvise(target.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


if __name__ == "__main__":
    main()
