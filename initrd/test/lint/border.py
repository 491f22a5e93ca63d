#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Sled system reads and writes the files of an installed system only through base/border.h.

Shell: a folder where a system is mounted is an operand of `sledc` or of a mount, never the start of a path. C: what
reads below such a folder opens nothing by itself.

usage: border.py [FILE...]

Checks these files, else all that could reach one. Prints FILE:LINE: TEXT and exits with 1 if there is one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

INITRD = Path(__file__).parents[2]
NAMES = r"(?:disk_root|disk_another|disk_boot|disk_separate|disk_esp|disk_system|bootorder_esp)\b"
FOLDER = rf"\${NAMES}"
FOLDERS = r"root|boot|esp|system|another"
ALLOWED = re.compile(
    rf"""sledc[ ]tree[ ]\w+[ ]"{FOLDER}"(?=[ ])
    |sledc[ ](?:bootentry|hostkey)[ ]"root={FOLDER}"
    |\$\{{disk_(?P<esp>boot|esp):\+"(?P=esp)=\$disk_(?P=esp)"\}}
    |\[[ ]-[nz][ ]"{FOLDER}"[ ]\]
    |"\$disk_separate"/\*\)(?=[ ])
    |disk_(?:mount|attach)[ ]"\$\w+"[ ]"{FOLDER}"
    |disk_(?:detach|has_kernel)[ ]"{FOLDER}"
    |(?<=\t)mkdir[ ]-p[ ]"{FOLDER}"$
    |\$MOCK[ ]mount[ ]-o[ ]\S+[ ]"\$disk_root_device"[ ]"\$disk_root"(?=[ ]&&[ ]return|$)
    |\$MOCK[ ]mount[ ]-t[ ]overlay[ ]-o[ ]"\$\w+"[ ]overlay[ ]"{FOLDER}"$
    |\$MOCK[ ](?:mount[ ]-o[ ]move|umount)[ ]"{FOLDER}"(?=[ ])
    |disk_(?:boot=\$disk_separate|esp=\$disk_system)(?=[ ]|$)
    |(?:\w+_)(?:root|separate|esp|system|another)=\$ROOT/run/sled/(?:{FOLDERS})(?=[ ]|$)""",
    re.VERBOSE,
)
# What is left: such a folder in another place, or its path.
SHELL = re.compile(rf"\$\{{?{NAMES}|run/sled/(?:{FOLDERS})\b")
# A function that judges a mounted folder gets it as its first argument.
JUDGE = re.compile(r"\bdisk_attach \S+ \S+ (\w+)")
ARGUMENT_ALLOWED = re.compile(r'sledc tree \w+ "\$1"(?= )|set -- "\$1" "\$\{2-\}"$|(?<=\t)[a-z]+_\w+ "\$1"(?= )')
# It may pass the folder on, to a function that then is one too.
PASSED = re.compile(r'(?<=\t)([a-z]+_\w+) "\$1"(?= )')
ARGUMENT = re.compile(r"\$\{?[1@*]")
FUNCTION = re.compile(r"^(\w+)\(\) [({]")
C = re.compile(
    r"\b(?:open(?:at)?(?:64)?|fopen|opendir|[lf]?stat(?:at|x)?|access|readlink(?:at)?|file_(?!\w+_fd\b)\w+)\("
)


def shell_lines(text: str) -> list[tuple[int, str]]:
    """The code of each line, with its number; a continued line has that of its first."""
    text = re.sub(r"\\\n[ \t]*", lambda _: " \0", text)
    lines, number = [], 1
    for line in text.split("\n"):
        code = re.sub(r"(^|\s)#.*", r"\1", line.replace("\0", ""))
        lines.append((number, re.sub(r"  +", " ", code)))
        number += 1 + line.count("\0")
    return lines


def all_judges(texts: Iterable[str]) -> set[str]:
    """The functions that get a folder where a system is mounted."""
    joined = "\n".join(texts)
    bodies = dict(re.findall(r"^(\w+)\(\) [({]\n(.*?)^[)}]", joined, re.MULTILINE | re.DOTALL))
    found, new = set[str](), set(JUDGE.findall(joined))
    while new:
        found |= new
        new = {name for judge in new for name in PASSED.findall(bodies.get(judge, ""))} - found
    return found


def bad_shell(text: str, judges: set[str]) -> list[tuple[int, str]]:
    """Each line that reaches a tree another way."""
    found, function = [], ""
    for number, line in shell_lines(text):
        if start := FUNCTION.match(line):
            function = start[1]
        rest = ALLOWED.sub("", line)
        if SHELL.search(rest) or (function in judges and ARGUMENT.search(ARGUMENT_ALLOWED.sub("", rest))):
            found.append((number, line.strip()))
        if line[:1] in ("}", ")") or (start and line[-1:] in ("}", ")")):
            function = ""
    return found


def bad_c(text: str) -> list[tuple[int, str]]:
    """The same of C."""
    lines = enumerate(text.split("\n"), 1)
    return [(number, line.strip()) for number, line in lines if C.search(re.sub(r"//.*", "", line))]


def files() -> list[Path]:
    """What could reach a tree."""
    verbs = [INITRD / "src/verbs" / f"{verb}.c" for verb in ("bootentry", "hostkey", "tree")]
    return [*(INITRD / "lib").iterdir(), INITRD / "init", *(INITRD / "src/boot").glob("*.c"), *verbs]


def main() -> int:
    """Every file."""
    texts = {file: file.read_text() for file in [Path(word) for word in sys.argv[1:]] or sorted(files())}
    judges = all_judges(texts.values())
    bad = False
    for file, text in texts.items():
        for line, code in bad_c(text) if file.suffix == ".c" else bad_shell(text, judges):
            print(f"{file}:{line}: use sledc tree (base/border.h): {code}")
            bad = True
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
