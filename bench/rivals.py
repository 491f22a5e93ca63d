# SPDX-License-Identifier: Apache-2.0
"""Line 6: the same file to 1, 8 and 32 receivers by nginx, udpcast, uftp and `sledc send`, at a link of 200 Mbit/s."""

from __future__ import annotations

import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hosted import Case, add_addresses, start
from packed import Image
from rack import HOSTED_AT, SERVER, Bar, Rack, make_image, median, spent, wait_all

LINK = 200
RATE = 180  # Mbit/s, of those that have a rate
COUNTS = (1, 8, 32)
PATIENCE = 60.0
BUFFER = "4194304"  # of a socket: with the default of 256 KiB uftp loses packets
UFTP = ["-B", BUFFER, "-b", "1400", "-r", "0.05:0.01:1"]  # largest blocks, and a shorter announcement
Figures = dict[str, Any]


def nginx(rack: Rack, image: Image, count: int) -> tuple[float, float]:
    """Seconds of the slowest, CPU seconds of the server."""
    words = ["curl", "-sf", "-o", "/dev/null", rack.url(image)]
    ended = wait_all([rack.switch.start(str(node), *words) for node in range(count)])
    return max(one.seconds for one in ended), spent(rack.nginx)


def sledc(rack: Rack, image: Image, count: int) -> tuple[float, float]:
    """A process for each receiver; what it gets is compared with the image."""
    for node in range(count):
        add_addresses(rack, node, 1, HOSTED_AT + node)
    rack.rate, rack.more = RATE, ["from=1"]
    rack.start_sender()
    network = SERVER.rpartition(".")[0]
    started = [
        start(rack, node, image, 1, base=f"{network}.{HOSTED_AT + node}", expected=count) for node in range(count)
    ]
    ended = wait_all(started)
    return max(one.seconds for one in ended), spent(rack.sender)


def timed(sender: subprocess.Popen[str], receivers: list[subprocess.Popen[str]]) -> tuple[float, float]:
    """Until all have ended, from when the sender starts."""
    begin = time.monotonic()
    try:
        ended = wait_all([sender, *receivers])
    except SystemExit:
        return float("inf"), 0.0
    return time.monotonic() - begin, ended[0].cpu


def udpcast(rack: Rack, image: Image, count: int) -> tuple[float, float]:
    """Full duplex, as its manual recommends for switches; ends after PATIENCE."""
    words = ["timeout", f"{PATIENCE:.0f}", "udp-receiver", "--interface", "eth0", "--nokbd", "--file", "/dev/null"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    receivers = [rack.switch.start(str(node), *words, **quiet) for node in range(count)]
    time.sleep(1)
    command = ["timeout", f"{PATIENCE:.0f}", "udp-sender", "--interface", "eth0", "--nokbd", "--full-duplex"]
    command += ["--min-receivers", str(count), "--max-bitrate", f"{RATE}m", "--file", str(image.path)]
    return timed(rack.switch.start("server", *command, **quiet), receivers)


def uftp(rack: Rack, image: Image, count: int) -> tuple[float, float]:
    """Its receivers are daemons: the end of the sender is that of all."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    for node in range(count):
        folder = rack.home / f"uftp{node}"
        folder.mkdir()
        rack.switch.start(str(node), "uftpd", "-d", "-B", BUFFER, "-I", "eth0", "-D", folder, **quiet)
    time.sleep(1)
    command = ["timeout", f"{PATIENCE:.0f}", "uftp", "-R", str(RATE * 1000), *UFTP, "-I", "eth0", str(image.path)]
    found = timed(rack.switch.start("server", *command, **quiet), [])
    for node in range(count):
        there = rack.home / f"uftp{node}" / image.path.name
        if not there.exists() or there.stat().st_size != image.path.stat().st_size:
            return float("inf"), 0.0
    return found


TOOLS = {"sledc": sledc, "nginx": nginx, "udpcast": udpcast, "uftp": uftp}
PROGRAMS = {"udpcast": "udp-sender", "uftp": "uftp"}


@dataclass
class Run:
    """What one tool needed."""

    wall: float
    cpu: float  # of the sender
    copies: float  # of the file, that left the server
    node: float  # copies that came to a node, the most

    def __str__(self) -> str:
        return f"{self.wall:.2f} s, {self.cpu:.2f} s of CPU, {self.copies:.2f} copies sent, {self.node:.2f} to a node"


def measure(directory: Path, image: Image, count: int, name: str) -> Run:
    """One run of a tool."""
    size = image.path.stat().st_size
    with Rack(directory, count, LINK) as rack:
        for port in rack.switch.ports:  # udpcast and uftp send to groups as they are routed
            rack.switch.ip(["route add 224.0.0.0/4 dev eth0"], rack.switch.namespace(port))
        wall, cpu = TOOLS[name](rack, image, count)
        most = max(rack.switch.received(node) for node in range(count))
        run = Run(min(wall, 2 * PATIENCE), cpu, rack.switch.sent() / size, most / size)
    print(f"  {name}, {count}: {run}", flush=True)
    return run


def figures_of(runs: list[Run]) -> Figures:
    """Medians, and the range of the times."""
    return {
        "wall": median([run.wall for run in runs]),
        "wall_min": min(run.wall for run in runs),
        "wall_max": max(run.wall for run in runs),
        "sender_cpu": median([run.cpu for run in runs]),
        "copies": median([run.copies for run in runs]),
        "node_copies": median([run.node for run in runs]),
    }


def rivals(directory: Path, rounds: int) -> Case:
    """All tools in turn, those that are installed."""
    image = make_image(directory, "small", 66, 308_000)
    tools = [name for name in TOOLS if shutil.which(PROGRAMS.get(name, "true"))]
    found: dict[tuple[str, int], list[Run]] = {}
    for _ in range(rounds):
        for count in COUNTS:
            for name in tools:
                found.setdefault((name, count), []).append(measure(directory, image, count, name))
    figures = {f"{name}, {count}": figures_of(runs) for (name, count), runs in found.items()}
    bars = [
        Bar(f"time by {name} for {count}", figures[f"sledc, {count}"]["wall"] / figures[f"{name}, {count}"]["wall"], 1)
        for name in tools
        for count in COUNTS
        if name != "sledc" and count > 1
    ]
    own = figures["sledc, 8"]["sender_cpu"]
    bars += [
        Bar(f"CPU of the sender by {name} at 8", own / max(0.01, figures[f"{name}, 8"]["sender_cpu"]), 0.1)
        for name in tools
        if name in PROGRAMS
    ]
    return figures, bars
