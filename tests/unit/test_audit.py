# SPDX-License-Identifier: Apache-2.0
"""tools/audit: what was found, and what was not checked, have codes of their own; every Python package has a hash."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
LISTS = ("demo", "go", "test")


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("audit", str(TOOLS / "audit"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("audit", loader))  # type: ignore[arg-type]
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("part", LISTS)
def test_every_package_is_pinned_with_its_hashes(audit: ModuleType, part: str) -> None:
    text = (TOOLS / f"requirements-{part}.txt").read_text()
    entries = [entry for entry in re.split(r"\n(?=\S)", text) if not entry.startswith("#")]
    for entry in entries:
        assert re.match(r"[A-Za-z0-9._-]+==\S+", entry) and "--hash=sha256:" in entry, entry
    names = {name.lower().replace("_", "-"): version for name, version in audit.pinned(text)}
    for wanted in (TOOLS / f"requirements-{part}.in").read_text().splitlines():
        name, _, version = wanted.partition("==")
        if not wanted.startswith("#"):
            assert names[name.lower()] == (version or names[name.lower()]), wanted


@pytest.mark.parametrize(
    ("go", "answer", "code"),
    [
        (0, [], 0),
        (3, [], 3),
        (0, OSError("no route"), 3),
        (0, ValueError("not JSON"), 3),
        (0, ["x 1: CVE"], 1),
        (3, ["x 1: CVE"], 1),
        (1, OSError("no route"), 1),
    ],
)
def test_codes(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch, go: int, answer: list[str] | Exception, code: int
) -> None:
    def known(pypi: str, name: str, version: str) -> list[str]:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(audit, "known", known)
    monkeypatch.setattr(audit, "go", lambda: go)
    monkeypatch.setattr("sys.argv", ["audit"])
    assert audit.main() == code
