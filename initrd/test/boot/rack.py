# SPDX-License-Identifier: Apache-2.0
"""A virtual machine whose disks are files with a canary in each MiB, and wipes of it by a real sledd."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from boot_server import Server, certificates, end, image_key, initrd, wait_for

MAC = "52:54:00:77:00:02"
GATEWAY = "10.0.2.2"  # loopback of this machine, as the virtual machine sees it
MIB = 1 << 20
SIZE = 80 * MIB  # over 64, so that not all of it is read back


def canary(name: str, mib: int) -> bytes:
    """One block of a MiB."""
    return f"CANARY {name} {mib:06d} ".encode() * 16


def filled(path: Path, size: int = SIZE) -> str:
    """A canary in each MiB of the disk, at another place each time. Returns the digest of the disk."""
    path.touch()
    with path.open("r+b") as file:
        for mib in range(size // MIB):
            block = bytearray(os.urandom(4096) * (MIB // 4096))
            at = mib * 12289 % (MIB - 4096)
            block[at : at + len(canary(path.stem, mib))] = canary(path.stem, mib)
            file.write(block)
    return digest(path)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def canaries(path: Path) -> list[int]:
    """Where a canary is, in bytes."""
    data, found, at = path.read_bytes(), [], -1
    while (at := data.find(b"CANARY ", at + 1)) >= 0:
        found.append(at)
    return found


def opened(path: Path, *above: dict[str, Any]) -> list[str]:
    """QEMU's words for the file of a disk, as the node `b-NAME`; `above`: what lies between the file and the disk."""
    node: dict[str, Any] = {"driver": "file", "filename": str(path), "discard": "unmap"}
    for filter_ in above:
        node = {**filter_, "image" if filter_["driver"] == "blkdebug" else "file": node}
    node = {"driver": "raw", "node-name": f"b-{path.stem}", "discard": "unmap", "file": node}
    return ["-blockdev", json.dumps(node)]


def show_logs(folder: Path) -> None:
    """The ends of the console and of sledd's log, as comments of TAP."""
    for name in ("console.log", "sledd.log"):
        path = folder / name
        path.touch()
        print(*(f"# {line}" for line in path.read_text(errors="replace").splitlines()[-60:]), sep="\n")


class Rack:
    """One machine and its sledd. `devices` are QEMU's words for the disks."""

    MEMORY = 384  # MiB
    FLAVOUR = "generic"

    def __init__(self, out: Path, folder: Path, server: Server, devices: list[str]) -> None:
        self.out, self.folder, self.server, self.devices = out, folder, server, devices
        self.process: subprocess.Popen[bytes] | None = None

    def switch_on(self, *more: str) -> None:
        """The console of the boot before goes."""
        console = self.folder / "console.log"
        console.write_bytes(b"")
        words = ["qemu-system-x86_64", "-machine", "q35", "-accel", "tcg", "-m", str(self.MEMORY), "-no-reboot"]
        words += ["-display", "none", "-serial", f"file:{console}", "-device", "virtio-rng-pci"]
        words += ["-qmp", f"unix:{self.folder}/qmp,server=on,wait=off"]
        words += ["-netdev", "user,id=n0", "-device", f"virtio-net-pci,netdev=n0,mac={MAC},romfile=", *self.devices]
        self.process = subprocess.Popen([*words, *more], stdin=subprocess.DEVNULL)

    def boot(self) -> None:
        """Switches it on, at the point where iPXE starts the kernel, and waits until it has sent its facts."""
        system = self.out / "initrd" / self.FLAVOUR
        words = ["-kernel", str(system / "vmlinuz"), "-initrd", str(initrd(system, self.folder))]
        self.switch_on(*words, "-append", self.server.kernel_arguments())
        wait_for("the facts", 600, lambda: self.server.is_known() and self.server.node().get("facts"))

    def start(self) -> None:
        """Switches it on, and admits it."""
        self.boot()
        self.server.admit(self.folder / "console.log")

    def start_disk(self) -> None:
        """Switches it on; its firmware starts the disk."""
        self.switch_on()

    def monitor(self, word: str) -> None:
        """A command of QEMU."""
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.settimeout(10)
            monitor.connect(str(self.folder / "qmp"))
            lines = monitor.makefile("rw")
            lines.readline()
            for one in ("qmp_capabilities", word):
                lines.write(json.dumps({"execute": one}) + "\n")
                lines.flush()
                lines.readline()

    def cut(self) -> None:
        """QEMU ends at once, and whatever it has not written is lost."""
        assert self.process
        self.monitor("quit")
        self.process.wait(30)

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            end(self.process)

    def keep(self, names: list[str]) -> None:
        """Declares the machine."""
        node = {"mac": MAC, "name": "n1", "disk": "smallest", "keep_disks": [f"serial:{name}" for name in names]}
        self.server.call("PUT", f"/v1/nodes/{MAC}", node)

    def bind(self, **binding: str) -> int:
        """Returns the generation, a new one each time."""
        bound = json.loads(self.server.call("PUT", "/v1/bindings/n1?reimage=true", {"node": "n1", **binding}))
        return int(bound["generation"])

    def status(self) -> dict[str, Any]:
        return dict(self.server.node()["status"])

    def ended(self, generation: int, *phases: str) -> dict[str, Any]:
        """The status once its plan has ended."""

        def ended() -> Any:
            status = self.status()
            return status["generation"] == generation and status["phase"] in phases and status

        return dict(wait_for(f"generation {generation} to be {' or '.join(phases)}", 600, ended))

    def records(self, generation: int) -> list[dict[str, Any]]:
        """Of all wipes of that generation."""
        items = json.loads(self.server.call("GET", "/v1/erasures"))["items"]
        return [record for record in items if record["generation"] == generation]

    def steps(self, generation: int) -> list[str]:
        """The verbs that were started, in order."""
        events = sorted(self.server.events(), key=lambda event: event["id"])
        return [e["verb"] for e in events if e["kind"] == "begin" and e.get("generation") == generation]


def play(
    name: str,
    parts: Mapping[str, Callable[[Rack], None]],
    disks: Callable[[Path], list[str]],
    begin: Callable[[Rack], None] = Rack.start,
) -> int:
    """Plays the parts in order, of a machine with QEMU's words for its disks, whose files `disks` makes in a folder.

    Prints TAP. Returns 0, or 1 after showing the console and sledd's log. SLED_KEEP=1 keeps both.
    """
    out = Path(sys.argv[1]).resolve()
    print(f"1..{len(parts)}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix=f"sled-{name}-"))
    server = rack = None
    try:
        certificates(folder, GATEWAY)
        image_key(folder)
        server = Server(out / "bin/sledd", folder, MAC, GATEWAY)
        wait_for("sledd", 60, server.ready)
        rack = Rack(out, folder, server, disks(folder))
        begin(rack)
        for number, (what, part) in enumerate(parts.items(), 1):
            part(rack)
            print(f"ok {number} - {what}", flush=True)
        return 0
    except (AssertionError, OSError, subprocess.CalledProcessError) as fault:
        print(f"not ok - {fault}")
        show_logs(folder)
        return 1
    finally:
        if rack:
            rack.stop()
        if server:
            end(server.process)
        if "SLED_KEEP" in os.environ:
            print(f"# kept: {folder}")
        else:
            shutil.rmtree(folder)
