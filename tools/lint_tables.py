#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds what a bad merge leaves in Markdown: two rows of one key, cut-off rows, glued headings, repeated lines."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("contract", "docs")
# Closing brackets and the like repeat in every listing.
SHORT = 12
Fault = tuple[int, str]


def cells(row: str) -> list[str]:
    """Split a row of a table. A | in code or behind a backslash is no border."""
    row = re.sub(r"`[^`]*`", lambda code: code.group().replace("|", "\0"), row.strip())
    parts = re.split(r"(?<!\\)\|", row)
    if parts[0] == "":
        parts = parts[1:]
    if parts and parts[-1].strip() == "":
        parts = parts[:-1]
    return [part.strip().replace("\0", "|") for part in parts]


def table(rows: list[tuple[int, str]]) -> Iterator[Fault]:
    """Check the rows of one table, header and rule first."""
    width = len(cells(rows[0][1]))
    first: dict[str, int] = {}
    for number, row in rows[2:]:
        found = cells(row)
        if len(found) != width or not row.rstrip().endswith("|"):
            yield number, f"row has {len(found)} cells and the header {width}, or its end is missing"
        key = found[0] if found else ""
        if key and first.setdefault(key, number) != number:
            yield number, f"second row of {key}, the first is in line {first[key]}"


def listing(lines: list[tuple[int, str]]) -> Iterator[Fault]:
    """Check a code block: no line of some length twice."""
    first: dict[str, int] = {}
    for number, line in lines:
        text = line.strip()
        if len(text) >= SHORT and first.setdefault(text, number) != number:
            yield number, f"line stands in line {first[text]} of this block already: {text}"


def check(text: str) -> Iterator[Fault]:
    """Check one page."""
    block: list[tuple[int, str]] | None = None
    rows: list[tuple[int, str]] = []
    previous = ""
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if line.lstrip().startswith("```"):
            if block is not None:
                yield from listing(block)
            block = [] if block is None else None
        elif block is not None:
            block.append((number, line))
        if block is None and line.startswith("|"):
            rows.append((number, line))
        elif rows:
            yield from table(rows)
            rows = []
        if block is None and re.match(r"#+ ", line) and previous.strip():
            yield number, "no empty line before the heading"
        previous = line
    if block is not None:
        yield text.count("\n"), "a code block is never closed"


def main(names: list[str]) -> int:
    """Check the named pages, or all of the folders."""
    pages = [Path(name) for name in names] or sorted(page for folder in FOLDERS for page in Path(folder).rglob("*.md"))
    faults = [f"{page}:{number}: {fault}" for page in pages for number, fault in check(page.read_text())]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
