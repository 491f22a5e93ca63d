# SPDX-License-Identifier: Apache-2.0
"""The file VERSION is the one source: what cannot read it agrees with it, and every build is given it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
VERSION = (ROOT / "VERSION").read_text().strip()


def test_version_is_semantic() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)


def test_collection_has_the_version() -> None:
    assert yaml.safe_load((ROOT / "galaxy.yml").read_text())["version"] == VERSION


def test_changelog_starts_with_the_version() -> None:
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert newest and newest[1] == VERSION


def test_builds_are_given_the_version() -> None:
    """The programs, the provider's package, the man pages and the archive, as make would build them."""
    targets = ["programs", "initrd", "provider-linux_amd64", "build/man", "archive"]
    command = ["make", "--dry-run", "--always-make", "--no-print-directory", "-C", str(ROOT), *targets]
    plan = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    uses = {
        "sledd": r"-X main\.version=(\S+)' -o build/bin/sledd\b",
        "sledctl": r"-X main\.version=(\S+)' -o build/bin/sledctl\b",
        "provider": r"terraform-provider/tools/package -version (\S+) ",
        "man pages": r"sledd/tools/man (\S+) ",
        "archive": r"sled-programs-(\S+)\.tar\.gz",
    }
    found = {name: set(re.findall(pattern, plan)) for name, pattern in uses.items()}
    assert found == {name: {VERSION} for name in uses}


@pytest.mark.parametrize("program", ["sledd", "sledctl"])
def test_program_prints_the_version(program: str) -> None:
    done = subprocess.run([ROOT / "build/bin" / program, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"{program} version {VERSION}\n"
