# SPDX-License-Identifier: Apache-2.0
"""Line 6: the same file to 1, 8 and 32 receivers by nginx, udpcast, uftp and `sledc send`, at a link of 200 Mbit/s."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from hosted import Case, add_addresses, start
from packed import Image
from rack import HOSTED_AT, SERVER, Bar, Rack, make_image, median, spent, wait_all

LINK = 200
RATE = 180  # Mbit/s, of those that have a rate
COUNTS = (1, 8, 32)
PATIENCE = 120.0
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
        rack.switch.start(str(node), "uftpd", "-d", "-I", "eth0", "-D", folder, "-T", folder, **quiet)
    time.sleep(1)
    command = ["timeout", f"{PATIENCE:.0f}", "uftp", "-R", str(RATE * 1000), "-I", "eth0", str(image.path)]
    found = timed(rack.switch.start("server", *command, **quiet), [])
    for node in range(count):
        there = rack.home / f"uftp{node}" / image.path.name
        if not there.exists() or there.stat().st_size != image.path.stat().st_size:
            return float("inf"), 0.0
    return found


TOOLS = {"sledc": sledc, "nginx": nginx, "udpcast": udpcast, "uftp": uftp}
PROGRAMS = {"udpcast": "udp-sender", "uftp": "uftp"}


def rivals(directory: Path, rounds: int) -> Case:
    """All tools in turn, those that are installed."""
    image = make_image(directory, "small", 66, 308_000)
    tools = {name: run for name, run in TOOLS.items() if shutil.which(PROGRAMS.get(name, "true"))}
    found: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for _ in range(rounds):
        for count in COUNTS:
            for name, run in tools.items():
                with Rack(directory, count, LINK) as rack:
                    for port in rack.switch.ports:  # udpcast and uftp send to groups as they are routed
                        rack.switch.ip(["route add 224.0.0.0/4 dev eth0"], rack.switch.namespace(port))
                    found.setdefault((name, count), []).append(run(rack, image, count))
                print(f"  {name}, {count}: {found[name, count][-1]}", flush=True)
    figures: Figures = {
        f"{name}, {count}": {
            "wall": min(median([wall for wall, _ in several]), 2 * PATIENCE),
            "sender_cpu": median([cpu for _, cpu in several]),
        }
        for (name, count), several in found.items()
    }
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
