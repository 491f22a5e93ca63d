# SPDX-License-Identifier: Apache-2.0
"""What names.py finds, and what it leaves alone. Prints TAP."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "c"))
import names
import tap


def foreign(text: str) -> list[str]:
    """Names in the part disk.sh that are not its own."""
    return [name for _, name in names.names(names.code(text)) if names.foreign(name, "disk")]


def test_functions_and_variables() -> None:
    assert foreign("attach() {\n\tway=1 disk_x=$(a b) number=2\n}\n") == ["attach", "number", "way"]
    assert foreign("disk_a() (\n\tfor way in a; do read -r first _ <f; done\n)\n") == ["first", "way"]
    assert foreign("if x=$(a); then\n\ty && z=1 || { w=2; }\nfi\n") == ["x", "w", "z"]


def test_what_is_no_name() -> None:
    assert foreign("step_wipe() { :; }\nexport SLED_CA=a\n# b=1\ndisk_a 'c=1' out=2 \"d=$1\"\n") == []
    assert foreign("disk_a <<-'END'\n\te=1\n\tEND\n") == []


if __name__ == "__main__":
    sys.exit(tap.run_tests(globals()))
