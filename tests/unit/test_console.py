# SPDX-License-Identifier: Apache-2.0
"""The program that records consoles keeps no token, in whatever parts one arrives."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parents[2] / "roles/console/files/sled-console"
SECRET = "0123456789abcdef" * 4
TEXT = f"Kernel command line: sled.token=sledb_525400770001_3_{SECRET} quiet\r\nsledo_{SECRET}\nclass sled\nlogin: "


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Any]:
    opened = runpy.run_path(str(PROGRAM), run_name="sled_console")["Record"](tmp_path / "console.log", 1 << 20)
    yield opened
    opened.file.close()
    opened.lock.close()


def recorded(record: Any) -> str:
    """The file, without the times."""
    return re.sub(r"(?m)^[0-9TZ:-]{20} ", "", record.path.read_text())


@pytest.mark.parametrize("size", [1, 2, 3, 7, 30, 64, 4096])
def test_tokens_are_not_recorded(record: Any, size: int) -> None:
    data = TEXT.encode()
    for at in range(0, len(data), size):
        record.add(data[at : at + size])
    record.note("ended")
    wanted = "Kernel command line: sled.token=[token] quiet\n[token]\nclass sled\nlogin: \n--- sled-console: ended\n"
    assert recorded(record) == wanted


def test_text_that_ends_like_a_token_is_recorded(record: Any) -> None:
    record.add(b"it is sled")
    record.note("ended")
    assert recorded(record) == "it is sled\n--- sled-console: ended\n"


def test_little_is_held(record: Any) -> None:
    for _ in range(1000):
        record.add(b"sledb_" + b"a" * 100)
        assert len(record.held) < 512
    record.flush()
    assert "sledb_a" not in recorded(record)
