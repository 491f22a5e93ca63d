# SPDX-License-Identifier: Apache-2.0
"""No two units of sledc need each other, whatever lies between: a unit is NAME.c with NAME.h, and needs those whose headers it includes."""

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
        included = {name for name in re.findall(r'^#include "(.*)\.h"', file.read_text(encoding="utf-8"), re.MULTILINE) if name != unit}
        found.setdefault(unit, set()).update(included)
    return found


def test_there_is_none() -> None:
    units = needs()
    assert "source/source" in units["source/stream"], "includes are no longer found"
    graphlib.TopologicalSorter(units).prepare()


if __name__ == "__main__":
    sys.exit(tap.run_tests(globals()))
