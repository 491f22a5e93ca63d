#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fills the paragraphs of Markdown pages to 100 columns; with --check, names the pages that are not filled.

usage: fill.py [--check] PAGE...
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import mdformat

OPTIONS = {"wrap": 100, "number": True, "plugin": {"tables": {"compact_tables": True}}}
GENERATED = re.compile(r"<!-- BEGIN (words|variables): .*?<!-- END \1 -->", re.S)
RULE = re.compile(r"^\|(?: :?-+:? \|)+$")


def row(line: str) -> str:
    """Write the rule of a table as the generators of this project do, without blanks."""
    return re.sub(r" (:?)-+(:?) ", r"\1---\2", line) if RULE.match(line) else line


def fill(text: str) -> str:
    """Fill a page. Tables, code and links that are longer stay as they are, and so do generated blocks."""
    new = mdformat.text(text, options=OPTIONS, extensions={"gfm", "tables", "frontmatter"})
    blocks = (block[0] for block in GENERATED.finditer(text))
    return GENERATED.sub(lambda _: next(blocks), "\n".join(row(line) for line in new.split("\n")))


def main(arguments: list[str]) -> int:
    """Fill or check the named pages."""
    check = arguments[:1] == ["--check"]
    stale = []
    for page in map(Path, arguments[check:]):
        old = page.read_text(encoding="utf-8")
        new = fill(old)
        if new != old:
            stale.append(page)
            if not check:
                page.write_text(new, encoding="utf-8")
    if check and stale:
        print(f"not filled to 100 columns: tools/fill.py {' '.join(map(str, stale))}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
