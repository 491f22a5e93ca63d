# SPDX-License-Identifier: Apache-2.0
"""Used ranges of a btrfs on one device, by its own tool."""

from __future__ import annotations

import re
import subprocess

MIB = 1 << 20
SUPERS = (64 * MIB, 256 << 30)


def dump(path: str, tree: str) -> str:
    words = ["btrfs", "inspect-internal", "dump-tree", "-t", tree, path]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def chunks(path: str) -> list[tuple[int, int, list[int]]]:
    """Logical address, size, and place of each copy."""
    found = []
    for text in re.split(r"\n\titem ", dump(path, "chunk")):
        head = re.search(r"CHUNK_ITEM (\d+)\).*\n\s+length (\d+)", text)
        if head:
            found.append(
                (int(head[1]), int(head[2]), [int(x) for x in re.findall(r"stripe \d+ devid 1 offset (\d+)", text)])
            )
    return found


def used(path: str) -> list[tuple[int, int]]:
    """As an image has to keep them; what is behind the end of the filesystem is used."""
    supers = subprocess.run(
        ["btrfs", "inspect-internal", "dump-super", path], capture_output=True, text=True, check=True
    ).stdout
    node, size = (
        int(re.search(rf"^{key}\s+(\d+)", supers, re.MULTILINE)[1]) for key in ("nodesize", "dev_item.total_bytes")
    )  # type: ignore[index]
    ranges = [(0, MIB), (size, 1 << 60), *((at, at + 4096) for at in SUPERS if at + 4096 <= size)]
    places = chunks(path)
    for at, kind, offset in re.findall(r"key \((\d+) (EXTENT_ITEM|METADATA_ITEM) (\d+)\)", dump(path, "extent")):
        start, length = int(at), int(offset) if kind == "EXTENT_ITEM" else node
        for logical, whole, copies in places:
            if logical <= start < logical + whole:
                ranges += [(copy + start - logical, copy + start - logical + length) for copy in copies]
    return ranges
