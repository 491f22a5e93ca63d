# SPDX-License-Identifier: Apache-2.0
"""Licences as SPDX expressions: of Debian's source packages by a table, of Go modules by their texts."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

# Of each licence, words that no licence before it has.
TEXTS = {
    "MPL-2.0": "Mozilla Public License,? [Vv]ersion 2.0",
    "Apache-2.0": "Apache License,? Version 2.0",
    "ISC": "Permission to use, copy, modify, and(/or)? distribute this software",
    "BSD-3-Clause": "Neither the name|names of its contributors may not|may be used to endorse",
    "BSD-2-Clause": "Redistributions in binary form must reproduce",
    "MIT": "Permission is hereby granted, free of charge",
}


@cache
def _table() -> dict[str, str]:
    lines = (Path(__file__).parent / "licences.txt").read_text().splitlines()
    pairs = (line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))
    return {name: licence.strip() for name, licence in pairs}


def of_debian(source: str) -> str:
    """The licence of what the release has of a source package; empty if it is unknown."""
    return _table().get(source, "")


def of_text(text: str) -> str:
    """The licence that a file holds; empty if it is unknown."""
    words = re.sub(r"\s+", " ", text)
    return next((name for name, pattern in TEXTS.items() if re.search(pattern, words)), "")
