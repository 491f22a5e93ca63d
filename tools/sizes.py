#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sizes of C, shell, Python and Go: files of at most 350 lines, functions of at most 50, lines of at most 120.

usage: sizes.py [FILE...]

Checks these files, else all of the tree. Prints FILE:LINE: and what is too long; exits with 1 then. Others check the
rest: ruff the lines of Python, golangci-lint the lines and functions of Go.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

WIDTH, FILE, FUNCTION = 120, 350, 50
TAB = 8
START = re.compile(r"^(?:[A-Za-z_].*\) \{|[a-z_]+\(\) [{(])$")
SHEBANG = re.compile(rb"#! ?/(?:usr/)?bin/(?:env )?(?:(python)|(?:ba|da)?sh)")
SUFFIXES = {".c": "c", ".h": "c", ".sh": "sh", ".py": "python", ".go": "go"}


def kind(file: Path) -> str:
    """The language of a file, by its suffix or shebang; empty if it is another."""
    if file.suffix in SUFFIXES:
        return SUFFIXES[file.suffix]
    with file.open("rb") as opened:
        shebang = SHEBANG.match(opened.readline(64))
    return "" if not shebang else "python" if shebang[1] else "sh"


def functions(text: str, language: str) -> Iterator[tuple[int, int]]:
    """The first and the last line of each function, from 1.

    In C and shell a function ends at the first bracket in the first column.
    """
    if language == "python":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node.lineno, node.end_lineno or node.lineno
        return
    if language == "go":
        return
    first = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not first and START.match(line):
            first = number
        elif first and line in ("}", ")"):
            yield first, number
            first = 0


def faults(text: str, language: str, width: int = 0) -> Iterator[tuple[int, str]]:
    """What is too long, each with its line; lines only if there is a width."""
    lines = text.splitlines()
    if len(lines) > FILE:
        yield FILE, f"{len(lines)} lines, at most {FILE} in a file"
    for number, line in enumerate(lines, 1):
        if width and (columns := len(line.expandtabs(TAB))) > width:
            yield number, f"{columns} columns, at most {width}"
    for first, last in functions(text, language):
        if last - first + 1 > FUNCTION:
            yield first, f"{last - first + 1} lines, at most {FUNCTION} in a function"


def sources() -> list[Path]:
    """All C, shell, Python and Go that git knows or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    files = (Path(name) for name in listed.split("\0") if name)
    return [file for file in files if file.is_file() and not file.is_symlink() and kind(file)]


def main() -> int:
    """Every file."""
    bad = []
    for file in [Path(word) for word in sys.argv[1:]] or sources():
        language = kind(file)
        width = WIDTH if language in ("c", "sh") else 0
        bad += [f"{file}:{line}: {fault}" for line, fault in faults(file.read_text(), language, width)]
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
