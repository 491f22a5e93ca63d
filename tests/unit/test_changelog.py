# SPDX-License-Identifier: Apache-2.0
"""Fragments of the changelog have a form and a length, and a release moves them into their section."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "tools" / "changelog.py"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "tools").mkdir()
    (tmp_path / "changelogs" / "fragments").mkdir(parents=True)
    shutil.copy(PROGRAM, tmp_path / "tools")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\nText.\n\n## 0.1.0\n\nDisks\n\n- Wipe.\n")
    return tmp_path


def run(checkout: Path, *arguments: str) -> tuple[int, str]:
    program = [sys.executable, str(checkout / "tools" / "changelog.py"), *arguments]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


def add(checkout: Path, name: str, text: str) -> None:
    (checkout / "changelogs" / "fragments" / name).write_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "- sledctl: add `node jobs`.\n",
        "- terraform-provider, sledd: add\n  networks.\n",
        "- **Action required** sledd: rename a flag.\n",
        f"- sledd: {'word ' * 23}end.\n",
    ],
)
def test_fragment_is_accepted(checkout: Path, text: str) -> None:
    add(checkout, "a.md", text)
    assert run(checkout) == (0, "")


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("a.md", "- add `node jobs`.\n", "want NAME.md"),
        ("a.md", "sledctl: add `node jobs`.\n", "want NAME.md"),
        ("a.md", "- sledctl: add `node jobs`\n", "want NAME.md"),
        ("a.md", "- sledctl: add `node jobs`.\n- sledd: add jobs.\n", "want NAME.md"),
        ("a.txt", "- sledctl: add `node jobs`.\n", "want NAME.md"),
        ("a.md", "", "want NAME.md"),
        ("a.md", f"- sledd: {'word ' * 24}end.\n", "26 words, at most 25"),
    ],
)
def test_fragment_is_refused(checkout: Path, name: str, text: str, fault: str) -> None:
    add(checkout, name, text)
    code, output = run(checkout)
    assert code == 1 and output.startswith(f"changelogs/fragments/{name}: {fault}")


def test_release_moves_fragments(checkout: Path) -> None:
    add(checkout, "b.md", "- sledd: add b.\n")
    add(checkout, "a.md", "- sledctl: add a.\n")
    assert run(checkout, "0.1.0")[0] == 0
    text = (checkout / "CHANGELOG.md").read_text()
    head, _, rest = text.partition("## 0.1.0 (20")
    assert head == "# Changelog\n\nText.\n\n"
    assert rest.endswith(")\n\nDisks\n\n- Wipe.\n\n- sledctl: add a.\n- sledd: add b.\n")
    assert not list((checkout / "changelogs" / "fragments").iterdir())

    add(checkout, "c.md", "- sledd: fix c.\n")
    assert run(checkout, "0.2.0")[0] == 0
    new = (checkout / "CHANGELOG.md").read_text()
    assert new.startswith("# Changelog\n\nText.\n\n## 0.2.0 (20")
    assert new.endswith(f")\n\n- sledd: fix c.\n\n## 0.1.0 (20{rest}")


def test_release_with_a_fault_changes_nothing(checkout: Path) -> None:
    add(checkout, "a.md", "- sledctl: add a.\n")
    add(checkout, "b.md", "b\n")
    before = (checkout / "CHANGELOG.md").read_text()
    assert run(checkout, "0.2.0")[0] == 1
    assert (checkout / "CHANGELOG.md").read_text() == before
    assert len(list((checkout / "changelogs" / "fragments").iterdir())) == 2
