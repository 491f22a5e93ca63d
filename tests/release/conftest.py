# SPDX-License-Identifier: Apache-2.0
"""The release that `make release` left in build/release."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def version() -> str:
    return (ROOT / "VERSION").read_text().strip()


@pytest.fixture(scope="session")
def release() -> Path:
    folder = ROOT / "build/release"
    assert (folder / "SHA256SUMS").exists(), "build/release is missing: run `make release`"
    return folder
