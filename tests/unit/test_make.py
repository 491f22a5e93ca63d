# SPDX-License-Identifier: Apache-2.0
"""What `make help` prints."""

import re
import subprocess
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]


def test_help_fits_a_terminal_and_names_what_the_documentation_names() -> None:
    done = subprocess.run(
        ["make", "-C", TREE, "--no-print-directory", "help"], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    named = set(re.findall(r"`make ([a-z0-9-]+)", (TREE / "tests/README.md").read_text()))
    makefile = (TREE / "Makefile").read_text()
    assert len(named) > 20
    assert [
        name for name in sorted(named) if not re.search(rf"^([a-z0-9-]+ )*{name}( [a-z0-9-]+)*:", makefile, re.M)
    ] == []
