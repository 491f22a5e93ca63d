#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The parts lib/*.sh share one namespace: every function and every variable that X.sh sets begins with X_.

The function of a step is step_VERB, and names in capitals are the environment of other programs.

usage: names.py [FILE...]

Checks these files, else all of lib/. Prints FILE:LINE: NAME and exits with 1 if there is one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

VALUE = r"""(?:"(?:[^"\\]|\\.)*"|\$\(\([^)]*\)\)|\$\([^()]*(?:\([^()]*\)[^()]*)*\)|[^\s;&|()"])*"""
COMMAND = r"(?:^|[;&|({)!]|\b(?:do|then|else|elif|if|while|until|export)\b)[ \t]*"
FUNCTION = re.compile(r"^[ \t]*([A-Za-z_]\w*)[ \t]*\(\)", re.MULTILINE)
ASSIGNMENTS = re.compile(rf"{COMMAND}((?:[A-Za-z_]\w*={VALUE}[ \t]*)+)", re.MULTILINE)
ASSIGNMENT = re.compile(rf"([A-Za-z_]\w*)={VALUE}")
LOOP = re.compile(r"\bfor[ \t]+([A-Za-z_]\w*)")
READ = re.compile(r"\bread[ \t]+(?:-\w+[ \t]+)*((?:[A-Za-z_]\w*[ \t]*)+)")


def code(text: str) -> str:
    """The text with comments, single-quoted words and here-documents blanked, of the same lines."""

    def blank(found: re.Match[str]) -> str:
        return "''" + "\n" * found[0].count("\n")

    text = re.sub(r"<<-?'?(\w+)'?.*?^\s*\1$", blank, text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"(^|\s)#.*", r"\1", text, flags=re.MULTILINE)
    return re.sub(r"'[^']*'", blank, text)


def names(text: str) -> list[tuple[int, str]]:
    """Each name that the text gives a meaning to, with its line."""
    found = [(match.start(1), match[1]) for pattern in (FUNCTION, LOOP) for match in pattern.finditer(text)]
    for words in READ.finditer(text):
        found += [(words.start(1), word) for word in words[1].split() if word != "_"]
    for several in ASSIGNMENTS.finditer(text):
        found += [(several.start(1), match[1]) for match in ASSIGNMENT.finditer(several[1])]
    return sorted((text.count("\n", 0, at) + 1, name) for at, name in found)


def foreign(name: str, part: str) -> bool:
    """Whether another part could set the same name."""
    return not name.startswith((f"{part}_", "step_")) and not name.isupper()


def main() -> int:
    """Every file."""
    files = [Path(word) for word in sys.argv[1:]] or sorted((Path(__file__).parents[2] / "lib").glob("*.sh"))
    bad = [
        (file, line, name) for file in files for line, name in names(code(file.read_text())) if foreign(name, file.stem)
    ]
    for file, line, name in bad:
        print(f"{file}:{line}: {name} does not begin with {file.stem}_")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
