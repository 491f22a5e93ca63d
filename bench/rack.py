# SPDX-License-Identifier: Apache-2.0
"""A boot server and nodes in network namespaces at one bridge, with a rate: nginx, `sledc send`, and what they sent."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from packed import Image

sys.path.insert(0, str(Path(__file__).parent.parent / "initrd" / "test" / "net"))
import switch

SLEDC = str(Path("build/bin/sledc").resolve())
RECEIVERS = str(Path("build/obj/sledc-test/plain/tool_receivers").resolve())
SERVER, wait_for = switch.SERVER, switch.wait_for
MIB = 1 << 20
SYMBOL = 1408
HOSTED_AT = 100  # last number of the address of the first hosted receiver
PATIENCE = 600.0  # seconds
Numbers = dict[str, str]


def make_image(directory: Path, name: str, chunks: int, noise: int) -> Image:
    """An image of that many chunks, of which each has up to twice `noise` bytes that cannot be compressed."""
    raw = directory / f"{name}.raw"
    if not raw.exists():
        chance = random.Random(name)
        sizes = [chance.randrange(1, min(2 * noise, MIB)) for _ in range(chunks - 1)]
        raw.write_bytes(b"\2" * MIB + b"".join(chance.randbytes(size).ljust(MIB, b"\1") for size in sizes))
    return Image.pack(SLEDC, raw, directory / f"{name}.raw.zst", directory)


def spent(process: subprocess.Popen[str]) -> float:
    """CPU seconds of a process that runs."""
    fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass
class Ended:
    """A process that did what it should."""

    out: str
    seconds: float  # since it was waited for first
    cpu: float


class Rack:
    """Runs while it is entered."""

    def __init__(self, directory: Path, nodes: int, link: int, rate: int = 0, more: Sequence[str] = ()) -> None:
        """`link` and `rate` of the sender are in Mbit/s; without a rate nobody sends."""
        self.directory, self.rate, self.more = directory, rate, list(more)
        self.switch = switch.Switch(nodes, f"{link}mbit")

    def __enter__(self) -> Self:
        self._home = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.home = Path(self._home.name)
        self.switch.__enter__()
        self.start_nginx()
        if self.rate:
            self.start_sender()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.switch.__exit__(kind, error, at)
        self._home.cleanup()

    def start_nginx(self) -> None:
        """Once more, too."""
        configuration = self.home / "nginx.conf"
        configuration.write_text(
            f"user root; daemon off; master_process off; pid {self.home}/pid; error_log {self.home}/log;\n"
            "events {}\nhttp { access_log off; sendfile on; tcp_nopush on;\n"
            f"server {{ listen {SERVER}:80; root {self.directory}; }} }}\n",
            encoding="ascii",
        )
        self.nginx = self.switch.start("server", "nginx", "-c", configuration, "-e", self.home / "log")
        self.await_port("tcp", ":0050 ")

    def start_sender(self) -> None:
        """Once more, too."""
        words = [SLEDC, "send", f"folder={self.directory}", f"rate={self.rate}", f"state={self.home}/state"]
        self.sender = self.switch.start("server", *words, *self.more, stdout=subprocess.DEVNULL)
        self.await_port("udp", ":1B59 ")

    def kill(self, process: subprocess.Popen[str]) -> None:
        """As a power cut does."""
        process.send_signal(signal.SIGKILL)
        process.wait()

    def await_port(self, protocol: str, text: str) -> None:
        """Until something listens."""
        words = ["ip", "netns", "exec", self.switch.namespace("server"), "cat", f"/proc/net/{protocol}"]

        def listens() -> bool:
            return text in subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout

        wait_for(f"{protocol} port", listens)

    def url(self, image: Image) -> str:
        """Of an image at the server."""
        return f"http://{SERVER}/{image.path.name}"

    def state(self) -> dict[str, Numbers]:
        """What the sender tells: its own line at "", and a line of each image at its name."""
        found: dict[str, Numbers] = {}
        for line in (self.home / "state").read_text(encoding="ascii").splitlines():
            fields = dict(word.split("=", 1) for word in line.split()[1:])
            found[fields.get("image", "")] = fields
        return found

    def multicast_bytes(self, image: Image) -> int:
        """Symbols that were sent of it, in bytes, once the sender has written its state."""
        time.sleep(1.1)
        session = self.state().get(image.path.name, {})
        return (int(session.get("data", 0)) + int(session.get("repairs", 0))) * SYMBOL

    def writer(self, node: int, image: Image, target: Path, *words: str) -> subprocess.Popen[str]:
        """A write of an image to a file."""
        command = [SLEDC, "write", f"file={target}", f"image={self.url(image)}", f"digest={image.digest}"]
        command += image.signed
        command += [f"keys={image.key}", "gaps=keep", "verify=none", *words]
        return self.switch.start(str(node), *command, stdout=subprocess.PIPE)


def multicast(*words: str, nodes: int = 1) -> list[str]:
    """Operands of a write that may use it, as the plan of one of so many nodes has them."""
    return [f"multicast={SERVER}:7001", f"expected={nodes}", *words]


def wait_all(processes: list[subprocess.Popen[str]]) -> list[Ended]:
    """Of processes that print little; in the order in which they were given."""
    begin = time.monotonic()
    found: dict[int, Ended] = {}
    while len(found) < len(processes):
        pid, status, used = os.wait4(-1, 0)
        mine = [process for process in processes if process.pid == pid]
        for process in mine:
            process.returncode = os.waitstatus_to_exitcode(status)
            out = process.stdout.read() if process.stdout else ""
            if process.returncode != 0:
                raise SystemExit(f"bench: {process.args!r} ended with {process.returncode}: {out}")
            found[pid] = Ended(out, time.monotonic() - begin, used.ru_utime + used.ru_stime)
    return [found[process.pid] for process in processes]


def median(values: list[float]) -> float:
    """The middle one."""
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


@dataclass
class Bar:
    """What a figure must be."""

    what: str
    figure: float
    most: float
    least: float = 0.0

    def is_met(self) -> bool:
        """Whether it is."""
        return self.least <= self.figure <= self.most

    def as_json(self) -> dict[str, Any]:
        """To be saved."""
        return {"what": self.what, "figure": round(self.figure, 4), "most": self.most, "least": self.least}
