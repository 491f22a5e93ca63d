# SPDX-License-Identifier: Apache-2.0
"""A disk with a system so small that a test can make it: all that it does is to say that it runs.

It is started by UEFI for arm64, or by kexec.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from boot_server import appended

MIB = 1 << 20
ESP, ROOT = 96, 32  # sizes in MiB
# The boot loader is an iPXE that finds this beside itself. It starts nothing before it has opened a network card.
SCRIPT = """#!ipxe
ifopen net0
kernel file:/vmlinuz initrd=initrd.img sled.mac={mac}
initrd --name initrd.img file:/initrd.img
boot
"""


def root(folder: Path, size: int = ROOT, files: Mapping[str, Path] = MappingProxyType({})) -> Path:
    """Its filesystem of that many MiB, with what tells the Sled system that it is a system, and with more files."""
    tree, image = folder / "root", folder / "root.ext4"
    for name in ("dev", "etc", "proc", "sys", "usr/lib/systemd"):
        (tree / name).mkdir(parents=True)
    (tree / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\n")
    (tree / "etc/os-release").write_text("ID=small\nVERSION_ID=1\n")
    for name, source in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, tree / name)
    (tree / "usr/lib/systemd/systemd").touch()  # who has one is given a unit that confirms, and its program
    subprocess.run(
        ["mke2fs", "-q", "-F", "-t", "ext4", "-d", tree, image, f"{size}M"], check=True, stdout=subprocess.DEVNULL
    )
    return image


def esp(folder: Path, system: Path, loader: Path, mac: str) -> Path:
    """The EFI system partition: boot loader, kernel and initrd, which is the Sled system's with another init."""
    tree, image = folder / "esp", folder / "esp.vfat"
    (tree / "EFI/BOOT").mkdir(parents=True)
    shutil.copy(loader, tree / "EFI/BOOT/BOOTAA64.EFI")
    shutil.copy(system / "vmlinuz", tree)
    (folder / "init").mkdir()
    shutil.copy(Path(__file__).parent / "small_init", folder / "init/init")
    appended(system / "initrd.img", folder / "init", tree / "initrd.img")
    for place in (tree, tree / "EFI/BOOT"):
        (place / "autoexec.ipxe").write_text(SCRIPT.format(mac=mac))
    subprocess.run(["mkfs.vfat", "-F", "32", "-C", image, str(ESP << 10)], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["mcopy", "-s", "-i", image, *tree.iterdir(), "::"], check=True)
    return image


def disk(folder: Path, system: Path, loader: Path, mac: str) -> Path:
    """The whole disk. `loader`: an iPXE for arm64."""
    folder.mkdir()
    parts, image = (esp(folder, system, loader, mac), root(folder)), folder / "small.raw"
    with image.open("wb") as file:
        for number, part in enumerate(parts):
            file.seek((1 + number * ESP) * MIB)
            file.write(part.read_bytes())
        file.truncate((ESP + ROOT + 2) * MIB)
    table = f"label: gpt\nstart=1MiB, size={ESP}MiB, type=uefi\nsize={ROOT}MiB\n"
    subprocess.run(["sfdisk", "-q", "-w", "never", image], input=table.encode(), check=True, capture_output=True)
    return image
