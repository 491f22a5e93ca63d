# SPDX-License-Identifier: Apache-2.0
"""The units and the folders of sledc have an order.

A unit is NAME.c with NAME.h and needs the units whose headers it includes.
"""

from __future__ import annotations

import graphlib
import re
import sys
from pathlib import Path

import tap

SOURCES = Path(__file__).resolve().parents[2] / "src"


def needs() -> dict[str, set[str]]:
    """Units by name, each with those that it needs."""
    found: dict[str, set[str]] = {}
    for file in SOURCES.rglob("*.[ch]"):
        unit = str(file.relative_to(SOURCES).with_suffix(""))
        included = {
            name
            for name in re.findall(r'^#include "(.*)\.h"', file.read_text(encoding="utf-8"), re.MULTILINE)
            if name != unit
        }
        found.setdefault(unit, set()).update(included)
    return found


def folders(units: dict[str, set[str]]) -> dict[str, set[str]]:
    """The same for folders."""
    found: dict[str, set[str]] = {}
    for unit, others in units.items():
        folder = str(Path(unit).parent)
        found.setdefault(folder, set()).update(
            str(Path(other).parent) for other in others if str(Path(other).parent) != folder
        )
    return found


def test_units() -> None:
    units = needs()
    assert "source/source" in units["source/stream"], "includes are no longer found"
    graphlib.TopologicalSorter(units).prepare()


def test_folders() -> None:
    above = folders(needs())
    assert "image" in above["source"], "folders are no longer found"
    graphlib.TopologicalSorter(above).prepare()


if __name__ == "__main__":
    sys.exit(tap.run_tests(globals()))
