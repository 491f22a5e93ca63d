# SPDX-License-Identifier: Apache-2.0
"""The limits of files, functions and lines, in C, shell, Python and Go."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SIZES = Path(__file__).resolve().parents[2] / "tools" / "sizes.py"
C = "static int a(int b) {\n" + "\treturn 1;\n" * 48 + "}\n"
SHELL = "disk_a() {\n" + "\t:\n" * 48 + "}\n"
PYTHON = "class A:\n    async def a(self):\n" + "        pass\n" * 49 + "\n"
FUNCTION = "51 lines, at most 50 in a function"


def faults(file: Path, text: str) -> list[str]:
    file.write_text(text)
    done = subprocess.run([sys.executable, str(SIZES), str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == (1 if done.stdout else 0)
    return [line.removeprefix(f"{file}:") for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("name", "fits", "line"),
    [
        ("a.c", C, "\treturn 1;\n"),
        ("a.sh", SHELL, "\t:\n"),
        ("a", f"#!/bin/sh\n{SHELL}", "\t:\n"),
        ("a.py", PYTHON, "        pass\n"),
        ("a", f"#!/usr/bin/env python3\n{PYTHON}", "        pass\n"),
    ],
)
def test_functions(tmp_path: Path, name: str, fits: str, line: str) -> None:
    assert faults(tmp_path / name, fits) == []
    first = next(number for number, text in enumerate(fits.splitlines(), 1) if "a(" in text)
    assert faults(tmp_path / name, fits.replace(line, line * 2, 1)) == [f"{first}: {FUNCTION}"]


@pytest.mark.parametrize("name", ["a.c", "a.h", "a.sh", "a.py", "a.go"])
def test_files(tmp_path: Path, name: str) -> None:
    assert faults(tmp_path / name, "\n" * 350) == []
    assert faults(tmp_path / name, "\n" * 351) == ["350: 351 lines, at most 350 in a file"]


@pytest.mark.parametrize("name", ["a.c", "a.sh"])
def test_lines(tmp_path: Path, name: str) -> None:
    assert faults(tmp_path / name, "\t" + "x" * 112) == []
    assert faults(tmp_path / name, "\t" + "x" * 113) == ["1: 121 columns, at most 120"]


def test_functions_and_lines_of_go_are_left_to_golangci_lint(tmp_path: Path) -> None:
    assert faults(tmp_path / "a.go", "func a() {\n" + "\t_ = 1\n" * 49 + "\t// " + "x" * 200 + "\n}\n") == []
    settings = (SIZES.parents[1] / ".golangci.yml").read_text()
    for limit in ("    - funlen\n", "      lines: 50\n", "    - lll\n", "      line-length: 120\n"):
        assert limit in settings


def test_ruff_reads_every_python_program() -> None:
    """Ruff finds programs by their suffix; those without one are listed for it."""
    root = SIZES.parents[1]
    settings = (root / "pyproject.toml").read_text()
    found = subprocess.run(["git", "grep", "-lE", "^#!.*python"], cwd=root, capture_output=True, text=True, check=True)
    programs = [name for name in found.stdout.splitlines() if (root / name).read_bytes()[:80].startswith(b"#!/usr")]
    assert [name for name in programs if not Path(name).suffix and f'  "{name}",' not in settings] == []
    assert programs
