# SPDX-License-Identifier: Apache-2.0
"""The lint of commit messages judges what came after it, and nothing where there is no history."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LINT = Path(__file__).resolve().parents[2] / "tools" / "lint_commits.py"
SETTINGS = (
    "-c",
    "user.name=a",
    "-c",
    "user.email=a@example.net",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "init.defaultBranch=main",
)


def git(where: Path, *arguments: str) -> None:
    subprocess.run(["git", *SETTINGS, *arguments], cwd=where, check=True, capture_output=True)


def commit(where: Path, message: str, lines: int = 1, name: str = "sledd/file") -> None:
    (where / name).parent.mkdir(parents=True, exist_ok=True)
    (where / name).write_text(f"{message}\n" * lines)
    git(where, "add", "--all")
    git(where, "commit", "--message", message)


def lint(where: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, str(where / LINT.name)], cwd=where, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Has a commit from before the check, which broke every rule, and the check."""
    where = tmp_path / "repository"
    where.mkdir()
    git(where, "init")
    for name in ("contract/a", "initrd/a", "molecule/lab/a", "Makefile"):
        commit(where, "what there was before", 100, name)
    shutil.copy(LINT, where)
    commit(where, "tools: check commit messages")
    return where


@pytest.mark.parametrize(
    "subject",
    [
        "initrd: preserve what lies behind a filesystem",
        "contract, sledd: generate the steps",
        "molecule: quote the message: it has a colon",
        "molecule/lab: bring the file back",
        "sledd: process requests in order",
        "Makefile: speed up the loop",
        "initrd: do not run a step whose start is refused",
    ],
)
def test_good_subjects(repository: Path, subject: str) -> None:
    commit(repository, subject)
    assert lint(repository) == (0, "")


@pytest.mark.parametrize(
    ("subject", "fault"),
    [
        ("preserve what lies behind", "no folder"),
        ("lab: quote the message", "`lab` is no folder"),
        ("initrd, ctl: add a step", "`ctl` is no folder"),
        ("initrd: keep what lies behind", "`keep` does not say"),
        ("initrd: name the folder", "`name` does not say"),
        ("initrd: " + "move " * 14, "characters, at most 72"),
        ("initrd: adds a step", "`adds`"),
        ("initrd: fixed a step", "`fixed`"),
        ("initrd: reading of images", "`reading`"),
        ("molecule: the message", "`the`"),
        ("molecule: lab: kexec: move a message", "`lab:`"),
        ("molecule: a message is text", "`a`"),
        ("sledd: machines", "`machines`"),
    ],
)
def test_bad_subjects(repository: Path, subject: str, fault: str) -> None:
    commit(repository, subject)
    code, output = lint(repository)
    assert code == 1
    assert fault in output


def test_many_lines_need_a_body(repository: Path) -> None:
    commit(repository, "sledd: add a table", 51, "table")
    code, output = lint(repository)
    assert code == 1
    assert "changes 51 lines and has no body" in output
    git(repository, "commit", "--amend", "--message", "sledd: add a table\n\nIt replaces three lists.")
    assert lint(repository) == (0, "")


def test_generated_lines_need_no_body(repository: Path) -> None:
    commit(repository, "sledd: generate a table", 51, "table.gen.go")
    assert lint(repository) == (0, "")


def test_merge_states_what_it_brings(repository: Path) -> None:
    git(repository, "checkout", "-b", "side")
    commit(repository, "sledd: add a line", 1, "side")
    git(repository, "checkout", "main")
    git(repository, "merge", "--no-ff", "side", "--message", "Merge branch 'side'")
    code, output = lint(repository)
    assert code == 1
    assert "a merge states what it brings" in output
    git(repository, "commit", "--amend", "--message", "Merge side: one more line of tables")
    assert lint(repository) == (0, "")


def test_only_commits_since_the_last_tag(repository: Path) -> None:
    commit(repository, "all of it wrong")
    assert lint(repository)[0] == 1
    git(repository, "tag", "v1.0.0")
    assert lint(repository) == (0, "")


def test_only_commits_since_the_rules(repository: Path) -> None:
    commit(repository, "all of it wrong")
    (repository / LINT.name).write_text(f"{LINT.read_text()}# stricter\n")
    commit(repository, "also wrong")
    assert lint(repository) == (0, "")
    commit(repository, "wrong again", 2)
    assert lint(repository)[0] == 1


def test_a_removed_folder_is_named(repository: Path) -> None:
    git(repository, "rm", "-r", "contract")
    commit(repository, "contract: remove the folder\n\nIt was a copy.")
    assert lint(repository) == (0, "")


def test_without_history(tmp_path: Path) -> None:
    shutil.copy(LINT, tmp_path)
    assert lint(tmp_path) == (0, "lint-commits: skipped, no history here\n")


def test_shallow_clone(repository: Path, tmp_path: Path) -> None:
    commit(repository, "all of it wrong")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--depth", "1", f"file://{repository}", str(clone))
    assert lint(clone) == (0, "")
    git(clone, "fetch", "--unshallow")
    assert lint(clone)[0] == 1
