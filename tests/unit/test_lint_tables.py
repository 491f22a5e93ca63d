# SPDX-License-Identifier: Apache-2.0
"""The lint of tables finds what a careless merge leaves in a page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LINT = Path(__file__).resolve().parents[2] / "tools" / "lint_tables.py"

SOUND = """# Steps

| verb | operands |
|---|---|
| `wipe` | disk, level = `clear\\|signatures` |
| `kexec` | disk, `a|b` |
| | continued |
| | continued again |

```
wipe disk=serial:LAB-0001
kexec disk=serial:LAB-0001
}
}
```

## Next
"""


def lint(page: Path, text: str) -> tuple[int, str]:
    page.write_text(text)
    done = subprocess.run([sys.executable, str(LINT), str(page)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_sound_page_passes(tmp_path: Path) -> None:
    assert lint(tmp_path / "page.md", SOUND) == (0, "")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("| | continued |", "| `wipe` | keep |", "7: second row of `wipe`, the first is in line 5"),
        ("| disk, `a|b` |", "| disk, `a|b`", "6: row has 2 cells and the header 2, or its end is missing"),
        ("| disk, `a|b` |", "| disk | a |", "6: row has 3 cells and the header 2, or its end is missing"),
        ("```\n\n##", "```\n##", "16: no empty line before the heading"),
        ("kexec disk", "wipe disk", "12: line stands in line 11 of this block already"),
        ("}\n```\n", "}\n", "a code block is never closed"),
    ],
)
def test_scar_is_found(tmp_path: Path, old: str, new: str, fault: str) -> None:
    assert old in SOUND
    code, output = lint(tmp_path / "page.md", SOUND.replace(old, new))
    assert code == 1
    assert fault in output


def test_every_contract_and_page_is_read() -> None:
    done = subprocess.run([sys.executable, str(LINT)], cwd=LINT.parents[1], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
