#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What GRUB itself starts in the trees of installers, in QEMU: what test_trees.py says that `sledc` must find.

GRUB is Debian's. It runs each tree's own grub.cfg; its commands that load a kernel are functions that print their
words. Trees with blscfg are left out: Debian's GRUB has no such command. Prints TAP; with words, only those trees.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "c"))
from boot.menus import UUID
from boot.trees import TREES, Tree
from loader import CACHE, fetch, run_trees, started

FOLDER = CACHE / "grub"
MODULES = FOLDER / "usr/lib/grub/i386-pc"
WITH = "biosdisk part_msdos ext2 normal configfile search search_fs_uuid search_fs_file test echo halt serial terminal"
WITH += " loadenv sleep true"
EARLY = """serial --unit=0 --speed=115200
terminal_output serial
set timeout=0
export timeout
function linux { echo "<linux $@>"; }
function linux16 { echo "<linux $@>"; }
function initrd { halt; }
configfile $prefix/grub.cfg
"""


def make_disk(tree: Tree, work: Path) -> Path:
    """An MBR with one ext2; boot.img expects the core behind it."""
    root, disk, part, core = work / "root", work / "disk", work / "part", work / "core"
    for name, text in {**tree.files, "early.cfg": EARLY}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    folder = "grub" if "boot/grub/grub.cfg" in tree.files else "grub2"
    load = work / "load.cfg"
    load.write_text(f"set root=(hd0,msdos1)\nset prefix=(hd0,msdos1)/boot/{folder}\nnormal /early.cfg\n")
    command = [FOLDER / "usr/bin/grub-mkimage", "-O", "i386-pc", "-d", MODULES, "-p", "/boot", "-c", load, "-o", core]
    subprocess.run([*command, *WITH.split()], check=True, timeout=60)
    disk.write_bytes(b"")
    os.truncate(disk, 20 << 20)
    table = "label: dos\nstart=2048,type=83,bootable\n"
    subprocess.run(["sfdisk", "-q", disk], input=table, text=True, check=True, timeout=60)
    subprocess.run(
        ["mke2fs", "-q", "-F", "-t", "ext2", "-U", UUID, "-d", root, part, "18M"],
        check=True,
        capture_output=True,
        timeout=60,
    )
    with disk.open("r+b") as file:
        file.write((MODULES / "boot.img").read_bytes()[:440])
        file.seek(512)
        file.write(core.read_bytes())
        file.seek(1 << 20)
        file.write(part.read_bytes())
    return disk


def start(tree: Tree) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        return started(["-drive", f"file={make_disk(tree, Path(folder))},format=raw,if=ide"])


def main(names: list[str]) -> int:
    fetch(FOLDER, MODULES / "boot.img", ["grub-pc-bin", "grub-common"])
    known = {
        name: tree
        for name, tree in TREES.items()
        if not tree.refused and {"boot/grub/grub.cfg", "boot/grub2/grub.cfg"} & set(tree.files)
    }
    trees = {name: tree for name, tree in known.items() if "\nblscfg\n" not in "".join(tree.files.values())}
    return run_trees(trees, start, names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
