# SPDX-License-Identifier: Apache-2.0
"""sledc --help and sledc VERB --help: no line is wider than a terminal of 80 columns. Prints TAP."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tap import run_tests

SLEDC = os.environ["SLEDC"]


def lines(*words: str) -> list[str]:
    """What is printed, checked for its width."""
    done = subprocess.run([SLEDC, *words, "--help"], capture_output=True, text=True, check=True, timeout=60)
    found = done.stdout.splitlines()
    wide = [line for line in found if len(line) > 80]
    assert not wide, f"{' '.join(words)} --help: {wide}"
    return found


def verbs() -> list[str]:
    return [line.split()[0] for line in lines() if line.startswith("  ") and line[2] != " "]


def test_lines_fit() -> None:
    assert {"hello", "write", "operational"} <= set(verbs())
    for verb in verbs():
        assert lines(verb)[0].startswith(f"sledc {verb}"), verb


def test_a_long_line_is_wrapped_whole() -> None:
    text = " ".join(" ".join(lines()).split())
    assert "mcast-test find out whether multicast from a sender arrives, and what is likely wrong" in text, text
    assert "6 network" in text, text


def test_version_is_that_of_the_file() -> None:
    done = subprocess.run([SLEDC, "--version"], capture_output=True, text=True, check=True, timeout=60)
    version = Path(__file__).resolve().parents[3] / "VERSION"
    assert done.stdout == f"sledc {version.read_text()}", done.stdout


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
