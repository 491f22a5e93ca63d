# SPDX-License-Identifier: Apache-2.0
"""The virtual machines of tests of the Sled system: 384 MiB of memory, and one disk, empty at first."""

from __future__ import annotations

import shutil
from pathlib import Path

FLASH = {"x86_64": "/usr/share/OVMF/OVMF", "aarch64": "/usr/share/AAVMF/AAVMF"}
MACHINES = {"x86_64": ["-machine", "q35"], "aarch64": ["-machine", "virt", "-cpu", "cortex-a57"]}


def flash(arch: str, folder: Path) -> list[str]:
    """UEFI, with variables of its own. BIOS is in QEMU."""
    variables = folder / "VARS.fd"
    if not variables.exists():
        shutil.copy(f"{FLASH[arch]}_VARS.fd", variables)
    code = f"if=pflash,format=raw,readonly=on,file={FLASH[arch]}_CODE.fd"
    return ["-drive", code, "-drive", f"if=pflash,format=raw,file={variables}"]


def words(arch: str, folder: Path, mac: str, network: str) -> list[str]:
    """QEMU's command line, but for what it boots. `network`: a -netdev without its id."""
    disk = folder / "disk.raw"
    with disk.open("ab") as file:
        file.truncate(4 << 30)
    line = [f"qemu-system-{arch}", *MACHINES[arch], "-accel", "tcg", "-m", "384", "-display", "none"]
    line += flash(arch, folder) if arch == "aarch64" else []
    line += ["-serial", f"file:{folder}/console.log", "-device", "virtio-rng-pci"]
    line += ["-netdev", f"{network},id=n0", "-device", f"virtio-net-pci,netdev=n0,mac={mac},romfile=,bootindex=1"]
    line += ["-drive", f"file={disk},format=raw,if=none,id=d0,cache=unsafe,discard=unmap"]
    return [*line, "-device", "virtio-blk-pci,drive=d0,serial=BOOT-1"]
