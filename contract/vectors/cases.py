#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
r"""Tables of cases: `cases.py FOLDER` writes every case of every table beside it as FOLDER/TABLE/NAME.

A table holds texts for a parser. `case NAME` starts a case; the lines below are its text. Empty lines and lines that
start with `#` are none of it. In a text `\xHH` is a byte and `\\` a backslash, and a line that ends with `\` has no
line feed. cases.go reads the same.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
TABLES = sorted(
    str(path.relative_to(HERE))
    for folder in ("admission", "multicast", "network", "plan", "report", "signing")
    for path in (HERE / folder).rglob("*")
    if path.is_file() and not path.suffix
)
ESCAPE = re.compile(rb"\\(x[0-9a-f]{2}|.)")


def _byte(found: re.Match[bytes]) -> bytes:
    escape = found[1]
    if escape == b"\\":
        return escape
    if len(escape) == 1:
        raise ValueError(f"unknown escape {found[0]!r}")
    return bytes([int(escape[1:], 16)])


def _text(line: bytes) -> bytes:
    ends = (len(line) - len(line.rstrip(b"\\"))) % 2 == 0
    return ESCAPE.sub(_byte, line if ends else line[:-1]) + b"\n" * ends


def read(table: str) -> dict[str, bytes]:
    """The texts of a table, as plan/ok, by their names."""
    cases: dict[str, bytes] = {}
    name = ""
    for line in (HERE / table).read_bytes().split(b"\n"):
        if line.startswith(b"case "):
            name = line[5:].decode("ascii")
            if name in cases:
                raise ValueError(f"{table} has two cases {name}")
            cases[name] = b""
        elif line and not line.startswith(b"#"):
            cases[name] += _text(line)
    return cases


def _lines(text: bytes) -> str:
    """The text as lines of a table: bytes that are invisible, or would be read in another way, are escaped."""
    shown = "".join(f"\\x{byte:02x}" if not 0x20 <= byte < 0x7F else "\\" * (byte == 0x5C) + chr(byte) for byte in text)
    lines = shown.replace("\\x0a", "\n")
    if lines and not lines.endswith("\n"):
        lines += "\\\n"
    lines = re.sub("(?<=\n)\n", "\\\\x0a\\\\\n", re.sub("^\n", "\\\\x0a\\\\\n", lines))
    lines = re.sub(" $", "\\\\x20", lines, flags=re.MULTILINE)
    return re.sub("^(#|case )", lambda found: f"\\x{ord(found[1][0]):02x}{found[1][1:]}", lines, flags=re.MULTILINE)


def write(table: str, head: str, cases: dict[str, bytes]) -> None:
    """Writes a table; the head is a comment."""
    blocks = [f"case {name}\n{_lines(text)}" for name, text in cases.items()]
    (HERE / table).write_text(f"# {head}\n\n" + "\n".join(blocks), encoding="ascii", newline="")


def unpack(folder: Path) -> None:
    """Writes every case as a file."""
    for table in TABLES:
        (folder / table).mkdir(parents=True)
        for name, text in read(table).items():
            (folder / table / name).write_bytes(text)


if __name__ == "__main__":
    unpack(Path(sys.argv[1]))
