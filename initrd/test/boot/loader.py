# SPDX-License-Identifier: Apache-2.0
"""What a real boot loader starts in the trees of installers, in QEMU, against what `sledc` must find."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from boot.trees import Tree

CACHE = Path(os.environ.get("SLED_CACHE", Path.home() / ".cache/sled"))
QEMU = ["qemu-system-x86_64", "-M", "pc", "-m", "128", "-display", "none", "-serial", "stdio", "-net", "none"]


def fetch(folder: Path, program: Path, packages: Sequence[str]) -> None:
    if program.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", "-q", *packages], cwd=folder, check=True, timeout=300)
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True, timeout=60)


def started(options: Sequence[str | Path], seconds: int = 60) -> list[str]:
    """The kernel that the loader starts, and its arguments: what the machine writes as "<linux ...>"."""
    command = ["timeout", str(seconds), *QEMU, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as machine:
        assert machine.stdout
        said = b""
        while not (found := re.search(rb"<linux ([^>]*)>", said)):
            piece = machine.stdout.read1(4096)
            if not piece:
                break
            said += piece
            said = re.sub(rb"\x1b\[[0-9;?=]*[A-Za-z]|[\r\n]", b"", said)
        machine.terminate()
    assert found, said[-500:]
    return found[1].decode().split()


def check(tree: Tree, kernel: str, arguments: Sequence[str]) -> None:
    wanted = tree.kernel.removeprefix("/esp") if "/" in tree.kernel else f"/vmlinuz-{tree.kernel}"
    assert kernel.endswith(wanted), (kernel, wanted)
    # Without blanks: GRUB breaks its lines at them.
    assert tree.arguments is None or "".join(arguments) == tree.arguments.replace(" ", ""), arguments


def run_trees(trees: dict[str, Tree], start: Callable[[Tree], list[str]], names: Sequence[str]) -> int:
    failed = 0
    for number, name in enumerate(names or trees, 1):
        try:
            kernel, *arguments = start(trees[name])
            check(trees[name], kernel, arguments)
            print(f"ok {number} - {name}", flush=True)
        except AssertionError as error:
            failed = 1
            print(f"not ok {number} - {name}: {error}", flush=True)
    print(f"1..{len(names or trees)}")
    return failed
