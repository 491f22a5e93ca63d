#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the fragments of the changelog; or moves them into CHANGELOG.md, for a release.

usage: changelog.py             check the fragments
       changelog.py VERSION     move them into a section of that version, dated today

A fragment is a file `changelogs/fragments/NAME.md` with one item, `- part: text.`, of at most 25 words.
"""

from __future__ import annotations

import datetime
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORDS = 25
ITEM = re.compile(r"- (?:\*\*Action required\*\* )?[\w-]+(?:, [\w-]+)*: \S[^\n]*(?:\n  \S[^\n]*)*\.\n")


def fault(fragment: Path) -> str:
    """Check one fragment; empty if it has the right form and length."""
    text = fragment.read_text(encoding="utf-8")
    if fragment.suffix != ".md" or not ITEM.fullmatch(text):
        return "want NAME.md with one item, `- part: text.`"
    words = len(text.split()) - 1  # the dash
    return f"{words} words, at most {WORDS}" if words > WORDS else ""


def merge(changelog: str, version: str, date: str, items: str) -> str:
    """Add items at the end of the version's section, or in a new first one; and date it."""
    heading = f"## {version} ({date})\n\n"
    new, found = re.subn(
        rf"^## {re.escape(version)}\b.*\n\n((?:(?!## ).*\n)*?)(?=\n## |\Z)",
        lambda section: heading + section[1] + ("\n" if items else "") + items,
        changelog,
        flags=re.M,
    )
    return new if found else re.sub(r"^(?=## )", lambda _: heading + items + "\n", changelog, count=1, flags=re.M)


def main(arguments: list[str]) -> int:
    """Check all fragments, and move them if a version is named."""
    fragments = sorted((ROOT / "changelogs" / "fragments").glob("*"))
    faults = [f"{fragment.relative_to(ROOT)}: {found}" for fragment in fragments if (found := fault(fragment))]
    if faults or not arguments:
        print("\n".join(faults), end="\n" if faults else "")
        return 1 if faults else 0
    changelog = ROOT / "CHANGELOG.md"
    items = "".join(fragment.read_text(encoding="utf-8") for fragment in fragments)
    today = datetime.date.today().isoformat()
    changelog.write_text(merge(changelog.read_text(encoding="utf-8"), arguments[0], today, items), encoding="utf-8")
    for fragment in fragments:
        fragment.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
