#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What systemd-boot itself starts in the trees of installers, on OVMF: what test_trees.py says that `sledc` must find.

systemd-boot is Debian's. A program that writes its path and its arguments stands for each kernel. Prints TAP; with
words, only those trees.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "c"))
from boot.trees import TREES, Tree
from loader import CACHE, fetch, run_trees, started

FOLDER = CACHE / "systemd-boot"
LOADER = FOLDER / "usr/lib/systemd/boot/efi/systemd-bootx64.efi"
OVMF = Path("/usr/share/OVMF")
SECTORS = 81920  # of each partition: a FAT32 of 40 MiB
RELEASE = "ID=test\nVERSION_ID=99\nPRETTY_NAME=test\n"
SOURCE = Path(__file__).with_name("efi_kernel.c")


def make_kernels(work: Path) -> None:
    """`kernel`, and `image`, which is a unified one as far as the loader looks."""
    clang = ["clang", "-target", "x86_64-unknown-windows", "-std=gnu17", "-Os", "-Wall", "-Wextra", "-Werror"]
    clang += ["-ffreestanding", "-fno-stack-protector", "-mno-red-zone", "-c", SOURCE, "-o", work / "kernel.o"]
    link = ["ld", "-m", "i386pep", "--subsystem", "10", "--entry", "start", "-s", "-o", work / "kernel"]
    (work / "release").write_text(RELEASE)
    section = ["--add-section", f".osrel={work}/release", "--set-section-flags", ".osrel=data,readonly"]
    section += ["--change-section-vma", ".osrel=0x140010000"]
    for command in (clang, [*link, work / "kernel.o"], ["objcopy", *section, work / "kernel", work / "image"]):
        subprocess.run(command, check=True, timeout=60)


def is_linux(name: str) -> bool:
    return Path(name).name.startswith(("vmlinuz", "linux"))


def make_fat(work: Path, root: str, tree: Tree) -> Path:
    """One folder of the tree as a FAT; `root` is "boot" or "esp"."""
    fat, folder = work / f"{root}.fat", work / root
    for name, text in tree.files.items():
        if not name.startswith(f"{root}/"):
            continue
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if is_linux(name) or name.lower().startswith(f"{root}/efi/linux/"):
            path.write_bytes((work / ("kernel" if is_linux(name) else "image")).read_bytes())
        else:
            path.write_text(text)
    with fat.open("wb") as file:
        file.truncate(SECTORS * 512)
    (folder / "EFI/BOOT").mkdir(parents=True, exist_ok=True)
    (folder / "EFI/BOOT/BOOTX64.EFI").write_bytes(LOADER.read_bytes())
    format_it = ["mformat", "-i", fat, "-F", "-h", "64", "-s", "32", "-T", str(SECTORS), "::"]
    subprocess.run(format_it, check=True, timeout=60)
    subprocess.run(["mcopy", "-s", "-Q", "-i", fat, *folder.iterdir(), "::"], check=True, timeout=60)
    return fat


def make_disk(tree: Tree, work: Path) -> Path:
    """A GPT with the ESP, which is at /boot or beside it."""
    parts = [("U", make_fat(work, "esp" if tree.esp else "boot", tree))]
    if tree.esp:
        parts.append(("BC13C2FF-59E6-4262-A352-B275FD6F7172", make_fat(work, "boot", tree)))
    disk = work / "disk"
    table = "label: gpt\n" + "".join(f"size={SECTORS},type={kind}\n" for kind, _ in parts)
    disk.write_bytes(b"")
    os.truncate(disk, (2048 + len(parts) * SECTORS + 2048) * 512)
    subprocess.run(["sfdisk", "-q", disk], input=table, text=True, check=True, timeout=60)
    with disk.open("r+b") as file:
        for number, (_, fat) in enumerate(parts):
            file.seek((2048 + number * SECTORS) * 512)
            file.write(fat.read_bytes())
    return disk


def start(tree: Tree) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        make_kernels(Path(folder))
        flash = f"if=pflash,format=raw,unit=0,readonly=on,file={OVMF}/OVMF_CODE.fd"
        variables = f"if=pflash,format=raw,unit=1,snapshot=on,file={OVMF}/OVMF_VARS.fd"
        disk = f"file={make_disk(tree, Path(folder))},format=raw,if=none,id=d"
        options = ["-vga", "none", "-drive", flash, "-drive", variables, "-drive", disk]
        kernel, *arguments = started([*options, "-device", "virtio-blk-pci,drive=d,bootindex=0"], 120)
    return [kernel.replace("\\", "/"), *(word for word in arguments if not word.startswith("initrd="))]


def main(names: list[str]) -> int:
    fetch(FOLDER, LOADER, ["systemd-boot-efi"])
    trees = {
        name: tree
        for name, tree in TREES.items()
        if not tree.refused and any("/loader/entries/" in path for path in tree.files) and not is_grub(tree)
    }
    return run_trees(trees, start, names)


def is_grub(tree: Tree) -> bool:
    return any(path.endswith("/grub.cfg") for path in tree.files)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
