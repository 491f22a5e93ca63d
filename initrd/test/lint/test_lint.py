# SPDX-License-Identifier: Apache-2.0
"""What names.py and sizes.py find, and what they leave alone. Prints TAP."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "c"))
import names
import sizes
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


def test_sizes() -> None:
    fits = "static int a(int b) {\n" + "\treturn 1;\n" * 48 + "}\n"
    assert not list(sizes.faults(fits))
    assert list(sizes.faults(fits.replace("}\n", "\t;\n}\n"))) == [(1, "51 lines, at most 50 in a function")]
    assert list(sizes.faults("disk_a() {\n" + "\t:\n" * 49 + "}\n")) == [(1, "51 lines, at most 50 in a function")]
    assert not list(sizes.faults("\t" + "x" * 112))
    assert list(sizes.faults("\t" + "x" * 113)) == [(1, "121 columns, at most 120")]
    assert list(sizes.faults("\n" * 351)) == [(350, "351 lines, at most 350 in a file")]


def test_sizes_of_python() -> None:
    long = "x" * 121 + "\n"
    assert not list(sizes.faults(long * 350, python=True))
    assert list(sizes.faults(long * 351, python=True)) == [(350, "351 lines, at most 350 in a file")]


if __name__ == "__main__":
    sys.exit(tap.run_tests(globals()))
