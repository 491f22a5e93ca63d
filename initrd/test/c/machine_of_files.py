# SPDX-License-Identifier: Apache-2.0
"""A machine of files: what sysfs and procfs would show of its disks, and a regular file for each. With SLED_TEST_ROOT
sledc takes it for its own."""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from members import MIB, Bytes

BUSES = ("pci", "scsi", "virtio", "nvme")


class Machine:
    """Disks are added to it; `written` and `hashes` show whether one was touched."""

    def __init__(self, root: Path, sledc: str) -> None:
        self.root, self.sledc, self.count = root, sledc, 0
        for folder in ("sys/block", "sys/class/block", "sys/dev/block", "proc/self", "etc/sled", "dev"):
            (root / folder).mkdir(parents=True)
        (root / "proc/self/mountinfo").write_text("22 1 0:21 / / rw - tmpfs tmpfs rw\n")
        self.set_argument("")
        self.set_site(None)

    def set_argument(self, words: str) -> None:
        """The kernel's arguments."""
        (self.root / "proc/cmdline").write_text(f"ro {words} console=tty0\n")

    def set_site(self, text: str | None) -> None:
        """The site's file."""
        path = self.root / "etc/sled/keep"
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_text(text)

    @contextmanager
    def without(self, name: str | None) -> Iterator[None]:
        """A file that is there and cannot be read: it is a folder, or a folder that is a file; None: nothing."""
        if name is None:
            yield
            return
        path = self.root / name
        if path.is_dir():
            path.rmdir()
            path.touch()
            yield
            path.unlink()
            path.mkdir()
            return
        kept = self.root / "kept"
        if path.exists():
            path.rename(kept)
        path.mkdir()
        yield
        path.rmdir()
        if kept.exists():
            kept.rename(path)

    def _bus(self, folder: Path, bus: str) -> None:
        (self.root / "sys/bus" / bus).mkdir(parents=True, exist_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "subsystem").symlink_to(self.root / "sys/bus" / bus)

    def _block(self, folder: Path, name: str, size: int, contents: tuple[Bytes, ...]) -> None:
        """A whole disk in that folder of /sys/devices."""
        folder.mkdir(parents=True)
        for directory in ("queue", "holders"):
            (folder / directory).mkdir()
        number = f"8:{16 * self.count}"
        self.count += 1
        words = {"dev": number, "size": size // 512, "ro": 0, "removable": 0, "queue/rotational": 0}
        for key, value in (words | {"queue/logical_block_size": 512}).items():
            (folder / key).write_text(f"{value}\n")
        for link in (f"block/{name}", f"class/block/{name}", f"dev/block/{number}"):
            (self.root / "sys" / link).symlink_to(folder)
        with (self.root / "dev" / name).open("wb") as file:
            file.truncate(size)
            file.seek(3 * MIB + 12345)
            file.write(f"what {name} holds".encode())
            for at, data in contents:
                file.seek(at)
                file.write(data)

    def scsi(self, name: str, serial: str, model: str, wwn: str, *contents: Bytes, size: int = 4 * MIB) -> Path:
        """A disk of virtio-scsi, which shows each path as a disk and gives it a name by its path."""
        pci = self.root / f"sys/devices/pci0000:00/0000:00:{self.count + 1:02x}.0"
        target = pci / f"virtio{self.count}/host{self.count}/target{self.count}:0:0/{self.count}:0:0:1"
        self._bus(pci, "pci")
        self._bus(pci / f"virtio{self.count}", "virtio")
        self._bus(pci / f"virtio{self.count}/host{self.count}", "scsi")
        self._bus(target, "scsi")
        (target / "model").write_text(f"{model}\n")
        (target / "wwid").write_text(f"naa.{wwn}\n")
        (target / "vpd_pg80").write_bytes(struct.pack(">BBH", 0, 0x80, len(serial)) + serial.encode())
        block = target / "block" / name
        self._block(block, name, size, contents)
        (block / "device").symlink_to(target)
        return block

    def namespace(self, drive: int, number: int, serial: str, wwn: str) -> None:
        """A namespace of an NVMe drive."""
        pci = self.root / f"sys/devices/pci0000:00/0000:{drive + 1:02x}:00.0"
        nvme = pci / f"nvme/nvme{drive}"
        if not nvme.exists():
            self._bus(pci, "pci")
            self._bus(nvme, "nvme")
            (nvme / "serial").write_text(f"{serial}\n")
            (nvme / "model").write_text("Twofold\n")
        name = f"nvme{drive}n{number}"
        self._block(nvme / name, name, 4 * MIB, ())
        (nvme / name / "device").symlink_to(nvme)
        (nvme / name / "nsid").write_text(f"{number}\n")
        (nvme / name / "wwid").write_text(f"eui.{wwn}\n")

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Sledc on this machine."""
        environment = {**os.environ, "SLED_TEST_ROOT": str(self.root)}
        environment.pop("SLED_TEST_DISK", None)
        return subprocess.run(
            [self.sledc, *words], capture_output=True, text=True, check=False, timeout=120, env=environment
        )

    def plan(self, step: str) -> subprocess.CompletedProcess[str]:
        """Runs the step as init does: the plan is checked, then the words of the line are those of a command."""
        path = self.root / "plan"
        path.write_text(f"plan 1\ngeneration 1 run 7\n{step}\nidle\n")
        checked = self.run("check-plan", str(path))
        return self.run(*step.split(" ")) if checked.returncode == 0 else checked

    def written(self) -> dict[str, int]:
        """When each disk was written last, whatever was written."""
        return {path.name: path.stat().st_mtime_ns for path in (self.root / "dev").iterdir()}

    def hashes(self) -> dict[str, str]:
        """Of the bytes of each disk."""
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (self.root / "dev").iterdir()}
