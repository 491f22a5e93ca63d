# SPDX-License-Identifier: Apache-2.0
"""What `sledc bootentry` finds in the trees that installers make."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

from boot.trees import TREES, Tree
from program import for_tests
from tap import run_tests

SLEDC = for_tests()


def make(tree: Tree, folder: Path) -> None:
    for name, text in tree.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "boot").mkdir(exist_ok=True)


def ask(tree: Tree, folder: Path) -> tuple[int, dict[str, str], str]:
    words = [f"root={folder}"]
    words += [f"boot={folder}/boot"] if tree.separate else []
    words += [f"esp={folder}/esp"] if tree.esp else []
    words += [f"firmware={tree.firmware}"] if tree.firmware else []
    done = subprocess.run(
        [SLEDC, "bootentry", *words], capture_output=True, text=True, check=False, timeout=20, env=os.environ
    )
    return done.returncode, dict(word.split("=", 1) for word in done.stdout.split()), done.stderr


def check(name: str, tree: Tree) -> None:
    with tempfile.TemporaryDirectory() as folder:
        make(tree, Path(folder))
        code, found, said = ask(tree, Path(folder))
        if tree.refused:
            assert code == 3 and tree.refused in said, (name, code, found, said)
            return
        assert code == 0, (name, said)
        assert found["kernel"].endswith(tree.kernel if "/" in tree.kernel else f"/vmlinuz-{tree.kernel}"), found
        if tree.arguments is not None:
            assert unquote(found["arguments"]) == tree.arguments, (name, unquote(found["arguments"]))


def add(name: str, tree: Tree) -> None:
    globals()["test_" + "".join(c if c.isalnum() else "_" for c in name)] = lambda: check(name, tree)


for one, made in TREES.items():
    add(one, made)

if __name__ == "__main__":
    sys.exit(run_tests(globals()))
