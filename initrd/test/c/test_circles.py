# SPDX-License-Identifier: Apache-2.0
"""The units and the folders of sledc have an order.

A unit is NAME.c with NAME.h. It needs the units whose headers it includes, and those whose functions and data its
object refers to.
"""

from __future__ import annotations

import graphlib
import os
import re
import subprocess
import sys
from pathlib import Path

import tap

SOURCES = Path(__file__).resolve().parents[2] / "src"
OBJECTS = Path(os.environ["SLED_TOOLS"]) / "src"
Units = dict[str, set[str]]


def includes() -> Units:
    """Units by name, each with those whose headers it includes."""
    found: Units = {}
    for file in SOURCES.rglob("*.[ch]"):
        unit = str(file.relative_to(SOURCES).with_suffix(""))
        names = re.findall(r'^#include "(.*)\.h"', file.read_text(encoding="utf-8"), re.MULTILINE)
        found.setdefault(unit, set()).update(set(names) - {unit})
    return found


def references() -> Units:
    """Units by name, each with those that define what its object does not."""
    units = [str(file.relative_to(SOURCES).with_suffix("")) for file in SOURCES.rglob("*.c")]
    defined: dict[str, str] = {}
    undefined: Units = {}
    for unit in units:
        nm = ["nm", "--format=posix", "--extern-only", str(OBJECTS / f"{unit}.o")]
        for line in subprocess.run(nm, capture_output=True, check=True, text=True).stdout.splitlines():
            name, kind = line.split()[:2]
            if kind in "Uw":
                undefined.setdefault(unit, set()).add(name)
            else:
                defined[name] = unit
    return {unit: {defined[name] for name in names if name in defined} - {unit} for unit, names in undefined.items()}


def needs() -> Units:
    """What a unit needs, by either."""
    found = includes()
    for unit, others in references().items():
        found.setdefault(unit, set()).update(others)
    return found


def folders(units: Units) -> Units:
    """The same for folders."""
    found: Units = {}
    for unit, others in units.items():
        folder = str(Path(unit).parent)
        found.setdefault(folder, set()).update({str(Path(other).parent) for other in others} - {folder})
    return found


def test_units() -> None:
    assert "source/source" in includes()["source/stream"], "includes are no longer found"
    assert "drive/drive_nvme" in references()["erase/purge"], "references are no longer found"
    graphlib.TopologicalSorter(needs()).prepare()


def test_folders() -> None:
    above = folders(needs())
    assert "image" in above["source"], "folders are no longer found"
    graphlib.TopologicalSorter(above).prepare()


if __name__ == "__main__":
    sys.exit(tap.run_tests(globals()))
