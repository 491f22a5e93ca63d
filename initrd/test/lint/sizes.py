#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""C and shell of the Sled system: lines of at most 120 columns, files of at most 350 lines, functions of at most 50.

usage: sizes.py [FILE...]

Checks these files, else those of the Sled system. Prints FILE:LINE: and what is too long; exits with 1 then. Of Python
it checks only the length of the file: ruff checks the lines.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

WIDTH, FILE, FUNCTION = 120, 350, 50
TAB = 8
TOP = Path(__file__).resolve().parents[2]
START = re.compile(r"^(?:[A-Za-z_].*\) \{|[a-z_]+\(\) [{(])$")


def functions(lines: list[str]) -> Iterator[tuple[int, int]]:
    """The first and the last line of each function, from 1.

    A function ends at the first bracket in the first column.
    """
    first = 0
    for number, line in enumerate(lines, 1):
        if not first and START.match(line):
            first = number
        elif first and line in ("}", ")"):
            yield first, number
            first = 0


def faults(text: str, python: bool = False) -> Iterator[tuple[int, str]]:
    """What is too long, each with its line."""
    lines = text.splitlines()
    if len(lines) > FILE:
        yield FILE, f"{len(lines)} lines, at most {FILE} in a file"
    if python:
        return
    for number, line in enumerate(lines, 1):
        if (width := len(line.expandtabs(TAB))) > WIDTH:
            yield number, f"{width} columns, at most {WIDTH}"
    for first, last in functions(lines):
        if last - first + 1 > FUNCTION:
            yield first, f"{last - first + 1} lines, at most {FUNCTION} in a function"


def sources() -> list[Path]:
    """All C and shell."""
    shell = [
        TOP / "init",
        TOP / "lib/step",
        TOP / "lib/lease",
        *TOP.glob("lib/*.sh"),
        *TOP.glob("test/sh/*"),
        *TOP.glob("test/sh/doubles/*"),
    ]
    return sorted([*TOP.rglob("*.[ch]"), *(file for file in shell if file.is_file() and file.suffix != ".py")])


def main() -> int:
    """Every file."""
    bad = [
        f"{file}:{line}: {fault}"
        for file in [Path(word) for word in sys.argv[1:]] or sources()
        for line, fault in faults(file.read_text(), python=file.suffix == ".py")
    ]
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
