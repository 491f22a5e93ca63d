#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks commit messages: those since the last tag, and since these rules last changed.

CONTRIBUTING.md, "How a change is made", has the rules. Without history there is nothing to check.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

WIDTH = 72
SMALL = 50  # lines that may change without a body
GENERATED = ("contract/openapi.json", "terraform-provider/docs/", "go.sum")

BARE_MERGE = re.compile(
    r"^Merge (?:branch|branches|tag|commit|remote-tracking branch)? ?'[^']*'(?: into \S+| of \S+)*$"
)

# Words that no imperative sentence starts with.
NOT_VERBS = """
a an the this that these those it its their there here some any no not none nothing nobody one two three four each every
all both more less most new old as at by for from in into of off on onto out over to under up with without and or but so
when where while
what which who whose how why if is are was were be been being has have had does did only also still own other another
first last next same different better many few several
"""
# Verbs of which a reader cannot tell what changed.
SOFT = "name let keep state take give tell"
# Verbs that look like a past form, a gerund, a noun or a third person.
VERBS = """
bring ring string spring swing embed feed need speed seed exceed proceed succeed shed bleed heed focus bias alias
mention position transition question condition function partition section version caution
"""


def git(*arguments: str) -> str:
    """Run git and return its output."""
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout.strip()


def imperative(word: str) -> bool:
    """Tell whether a sentence in the imperative may start with the word."""
    word = word.lower().strip("`'\",.")
    if word in VERBS.split():
        return True
    if word in NOT_VERBS.split() or not re.fullmatch(r"[a-z][a-z-]*", word):
        return False
    return not re.search(r"(?:ed|ing|tion|sion|ness|ity|[^s]s)$", word)


def exists(path: str, commit: str) -> bool:
    """Tell whether a commit or its parent has a file or folder."""
    objects = [f"{commit}:{path}", f"{commit}^:{path}"]
    return any(
        subprocess.run(["git", "cat-file", "-e", o], capture_output=True, check=False).returncode == 0 for o in objects
    )


def subject_faults(subject: str, commit: str) -> list[str]:
    """Check the first line of a message."""
    faults = [f"subject has {len(subject)} characters, at most {WIDTH}"] if len(subject) > WIDTH else []
    folders, colon, rest = subject.partition(": ")
    if not colon:
        return [*faults, "subject has no folder: want `folder: verb in the imperative`"]
    faults += [f"`{name}` is no folder or file of the tree" for name in folders.split(", ") if not exists(name, commit)]
    word = rest.split(" ")[0]
    if word in SOFT.split():
        faults.append(f"`{word}` does not say what changes: want a verb such as add, remove, move, rename or reject")
    elif not imperative(word):
        faults.append(f"`{word}` is not a verb in the imperative: want `folder: verb in the imperative`")
    return faults


def changed(commit: str) -> int:
    """Count the changed lines of a commit, without binary and generated files."""
    total = 0
    for line in git("show", "--numstat", "--format=", commit).splitlines():
        added, removed, path = line.split("\t", 2)
        if added != "-" and not path.startswith(GENERATED) and ".gen." not in path:
            total += int(added) + int(removed)
    return total


def faults(commit: str) -> list[str]:
    """Check one commit."""
    subject, _, body = git("show", "-s", "--format=%B", commit).partition("\n")
    if len(git("show", "-s", "--format=%P", commit).split()) > 1:
        bare = BARE_MERGE.match(subject) and not body.strip()
        return ["a merge states what it brings, not only the name of its branch"] if bare else []
    found = subject_faults(subject, commit)
    if not body.strip() and (lines := changed(commit)) > SMALL:
        found.append(f"changes {lines} lines and has no body that explains the reason")
    return found


def bases() -> list[str]:
    """Find the commits up to which messages are not checked; none without history."""
    here = Path(__file__).resolve()
    top = Path(git("rev-parse", "--show-toplevel")).resolve()
    if not here.is_relative_to(top):
        return []
    rules = git("log", "-1", "--format=%H", "--", str(here))
    tag = subprocess.run(["git", "describe", "--tags", "--abbrev=0"], capture_output=True, text=True, check=False)
    return [rules, *tag.stdout.split()] if rules else []


def main(arguments: list[str]) -> int:
    """Check the commits of a range, by default those since the bases."""
    try:
        selected = arguments or ["HEAD", *(f"^{base}" for base in bases())]
    except (subprocess.CalledProcessError, FileNotFoundError):
        selected = ["HEAD"]
    if selected == ["HEAD"]:
        print("lint-commits: skipped, no history here")
        return 0
    commits = git("rev-list", "--reverse", *selected).split()
    found = [(commit, fault) for commit in commits for fault in faults(commit)]
    for commit, fault in found:
        print(f"{commit[:10]} {git('show', '-s', '--format=%s', commit)}\n  {fault}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
