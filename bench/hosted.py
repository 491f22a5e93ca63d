# SPDX-License-Identifier: Apache-2.0
"""The protocol of multicast: up to 80 receivers in one process, which take symbols, repair, and compare each frame."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packed import Image
from rack import HOSTED_AT, RECEIVERS, SERVER, Bar, Rack, make_image, median, spent, wait_all

RATE = 100  # Mbit/s, of the sender
LINK = 1000  # of the server: 80 requests for an index at once are not lost in its queue
NETWORK = SERVER.rpartition(".")[0]
COUNTS = (1, 2, 4, 8, 16, 40, 80)
MANY = 80
LOSSES = {0.0: 1.06, 0.01: 1.10, 0.05: 1.20}  # most copies
Case = tuple[dict[str, Any], list[Bar]]


@dataclass
class Hosted:
    """How a run of receivers went."""

    seconds: list[float]
    joined: list[float]  # when index and head were there, in seconds
    copies: float  # what the server sent, of the image
    http: float  # the share of that which came by HTTP
    duplicates: float  # the largest share of what one received
    needs: int
    why: list[str]  # of those that used HTTP
    cpu: float
    sender_cpu: float

    def worst(self) -> float:
        """Seconds of the slowest."""
        return max(self.seconds)

    def figures(self) -> dict[str, Any]:
        """To print."""
        return {
            "worst": round(self.worst(), 3),
            "joined": f"{min(self.joined):.3f}-{max(self.joined):.3f}",
            "copies": round(self.copies, 4),
            "http": round(self.http, 4),
            "duplicates": round(self.duplicates, 4),
            "needs": self.needs,
            "cpu": round(self.cpu, 2),
            "sender_cpu": round(self.sender_cpu, 2),
        }


def add_addresses(rack: Rack, node: int, count: int, first: int = HOSTED_AT) -> None:
    """Of the receivers at that node."""
    commands = [f"address add {NETWORK}.{first + i}/24 dev eth0" for i in range(count)]
    rack.switch.ip(commands, rack.switch.namespace(str(node)))


def start(rack: Rack, node: int, image: Image, count: int, **options: object) -> subprocess.Popen[str]:
    """Of `count` receivers."""
    given = {"base": f"{NETWORK}.{HOSTED_AT}"} | options
    words = [RECEIVERS, f"{SERVER}:7001", image.path, rack.url(image), count]
    words += [f"{key}={value}" for key, value in given.items()]
    return rack.switch.start(str(node), *words, stdout=subprocess.PIPE)


def read(rack: Rack, image: Image, out: str) -> Hosted:
    """What the receivers printed, and what the sender tells."""
    *lines, last = [dict(word.split("=", 1) for word in line.split()[1:]) for line in out.splitlines()]
    http, size = sum(int(line["http"]) for line in lines), image.path.stat().st_size
    sent = rack.multicast_bytes(image) + http
    shares = [int(line["duplicate"]) / max(1, int(line["received"])) for line in lines]
    return Hosted(
        [float(line["seconds"]) for line in lines],
        [float(line["joined"]) for line in lines],
        sent / size,
        http / size,
        max(shares),
        sum(int(line["needs"]) for line in lines),
        [line["why"] for line in lines],
        float(last["cpu"]),
        spent(rack.sender),
    )


def run(directory: Path, image: Image, count: int, rate: int = RATE, **options: object) -> Hosted:
    """A sender that has just started, and its receivers."""
    with Rack(directory, 1, LINK, rate, ["from=1"]) as rack:
        add_addresses(rack, 0, count)
        (ended,) = wait_all([start(rack, 0, image, count, **options)])
        found = read(rack, image, ended.out)
    print(f"  {count:3} receivers {options}: {found.figures()}", flush=True)
    return found


def image_for(directory: Path) -> Image:
    """40 MB in 130 chunks."""
    return make_image(directory, "scaling", 131, 308_000)


def scaling(directory: Path, rounds: int) -> Case:
    """Line 1: times without loss of 1 to 80 receivers, and the copies that 80 need with losses."""
    image = image_for(directory)
    runs: dict[tuple[int, float], list[Hosted]] = {}
    for number in range(rounds):
        for count in COUNTS:
            runs.setdefault((count, 0.0), []).append(run(directory, image, count, expected=count))
        for loss in list(LOSSES)[1:]:
            for count in (1, MANY):
                runs.setdefault((count, loss), []).append(
                    run(directory, image, count, expected=count, loss=loss, seed=number + 1)
                )
    figures = {
        f"{count} receivers, {loss:.0%} loss": {
            "wall": median([one.worst() for one in several]),
            "wall_min": min(one.worst() for one in several),
            "wall_max": max(one.worst() for one in several),
            "copies": max(one.copies for one in several),
            "needs": max(one.needs for one in several),
            "cpu": median([one.cpu for one in several]),
            "sender_cpu": median([one.sender_cpu for one in several]),
        }
        for (count, loss), several in runs.items()
    }
    bars = []
    for loss, most in LOSSES.items():
        one, many = figures[f"1 receivers, {loss:.0%} loss"], figures[f"{MANY} receivers, {loss:.0%} loss"]
        bars.append(Bar(f"time of {MANY} by time of 1, {loss:.0%} loss", many["wall"] / one["wall"], 1.15))
        bars.append(Bar(f"copies for {MANY}, {loss:.0%} loss", many["copies"], most))
    return figures, bars


def spread_of(kind: str, milliseconds: float) -> list[float]:
    """When each of 80 starts, within the time that one alone takes."""
    if kind == "half":
        return [milliseconds / 2 * i / MANY for i in range(MANY)]
    if kind == "clusters":
        return [milliseconds * (i * 4 // MANY) / 4 for i in range(MANY)]
    if kind == "two":
        return [0.0] * (MANY - 2) + [milliseconds * 0.5, milliseconds * 0.95]
    return [milliseconds * i / MANY for i in range(MANY)]


def late(directory: Path, rounds: int) -> Case:
    """Line 3: receivers that start late."""
    image = image_for(directory)
    alone = median([run(directory, image, 1).worst() for _ in range(rounds)])
    figures: dict[str, Any] = {"alone": {"wall": alone}}
    bars = []
    for kind in ("half", "even", "clusters", "two"):
        starts = spread_of(kind, alone * 1000)
        words = ",".join(str(int(at)) for at in starts)
        runs = [run(directory, image, MANY, starts=words) for _ in range(rounds)]
        worst = median([one.worst() for one in runs])
        copies, spread = max(one.copies for one in runs), max(starts) / 1000 / alone
        figures[f"late, {kind}"] = {"wall": worst, "copies": copies, "spread": spread}
        bars += [
            Bar(f"{kind}: worst receiver by one alone", worst / alone, 1.15),
            Bar(f"{kind}: copies by 1 + spread / T", copies / (1 + spread), 1.05),
            Bar(f"{kind}: duplicates", max(one.duplicates for one in runs), 0.03),
        ]
    return figures, bars


def slow(directory: Path, rounds: int) -> Case:
    """Line 4: one of 80 loses 30 %, and the disk of another takes a tenth of the rate."""
    image = make_image(directory, "long", 261, 308_000)
    good, bad = [], []
    for number in range(rounds):
        good.append(run(directory, image, MANY, seed=number))
        bad.append(run(directory, image, MANY, seed=number, bad=0.3, slow=RATE * 1_000_000 // 80))
    usual = median([max(one.seconds[2:]) for one in good])
    others = median([max(one.seconds[2:]) for one in bad])
    figures = {
        "79 good ones": {"wall": usual},
        "the others": {"wall": others, "copies": max(one.copies for one in bad)},
        "the bad and the slow one": {"wall": median([max(one.seconds[:2]) for one in bad]), "why": bad[-1].why[:2]},
    }
    left = min(sum(why != "-" for why in one.why) for one in bad)
    return figures, [
        Bar("the others by all good", others / usual, 1.05),
        Bar("receivers that left for HTTP", left, 2, 2),
    ]


def fair(directory: Path, rounds: int) -> Case:
    """Line 9: two images to two groups of 8, and a TCP stream, at a link of 100 Mbit/s."""
    images = [make_image(directory, name, 131, 308_000) for name in ("scaling", "other")]
    shares, streams = [], []
    for _ in range(rounds):
        with Rack(directory, 3, 100, 70, ["from=1"]) as rack:
            for node in (0, 1):
                add_addresses(rack, node, 8, HOSTED_AT + 50 * node)
            waits = [
                start(rack, node, image, 8, base=f"{NETWORK}.{HOSTED_AT + 50 * node}")
                for node, image in enumerate(images)
            ]
            url = rack.url(make_image(directory, "long", 261, 308_000))
            words = ["curl", "-s", "-o", "/dev/null", "-w", "%{speed_download}", "--max-time", "6", url]
            stream = rack.switch.start("2", *words, stdout=subprocess.PIPE)
            time.sleep(7)
            sessions = rack.state()
            data = [int(sessions[image.path.name]["data"]) for image in images]
            streams.append(float(stream.communicate()[0]) * 8 / 100e6)
            wait_all(waits)
        shares.append(data[0] / sum(data))
    figures = {"share of the first image": {"share": shares}, "TCP stream, of the link": {"share": streams}}
    return figures, [
        Bar("smallest share of the first image", min(shares), 0.6, 0.4),
        Bar("largest share of the first image", max(shares), 0.6, 0.4),
        Bar("TCP stream, of the link", median(streams), 1.0, 0.25),
    ]
