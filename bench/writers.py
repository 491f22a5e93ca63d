# SPDX-License-Identifier: Apache-2.0
"""Real `sledc write` onto sparse files, by multicast: cost, deaths, deltas, and networks without multicast."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path
from typing import Any

from hosted import Case
from packed import Image
from rack import MIB, SLEDC, Bar, Ended, Rack, make_image, median, multicast, wait_all

NODES = 8
DEATHS = 20


def target(rack: Rack, node: int) -> Path:
    """The disk of a node."""
    return rack.home / f"disk{node}"


def start(rack: Rack, image: Image, nodes: int, *words: str) -> list[subprocess.Popen[str]]:
    """A write at each node."""
    return [rack.writer(node, image, target(rack, node), *words) for node in range(nodes)]


def check(rack: Rack, image: Image, nodes: int) -> None:
    """Each disk is the image."""
    for node in range(nodes):
        words = [SLEDC, "verify", f"in={image.path}", f"file={target(rack, node)}"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, timeout=300)


def write_all(rack: Rack, image: Image, nodes: int, *words: str) -> list[Ended]:
    """A write at each of them at once; the disks are right and removed."""
    ended = wait_all(start(rack, image, nodes, *words))
    check(rack, image, nodes)
    for node in range(nodes):
        target(rack, node).unlink()
    return ended


def show(what: str, ended: list[Ended]) -> float:
    """Prints and returns when the last one ended."""
    worst = max(one.seconds for one in ended)
    cpu = median([one.cpu for one in ended])
    print(f"  {what}: {worst:.2f} s, {cpu:.2f} s of CPU each; {ended[-1].out.splitlines()[-1]}", flush=True)
    return worst


def engine(directory: Path, rounds: int) -> Case:
    """Line 2: 8 writes at 50 Mbit/s, beside one, and one by HTTP."""
    image = make_image(directory, "scaling", 131, 308_000)
    walls: dict[str, list[float]] = {"one": [], "eight": [], "http": []}
    cpus: dict[str, list[float]] = {"one": [], "eight": [], "http": []}
    for _ in range(rounds):
        for name, nodes, words in (
            ("one", 1, multicast("mode=full")),
            ("eight", NODES, multicast("mode=full", nodes=NODES)),
            ("http", 1, ["mode=full"]),
        ):
            with Rack(directory, nodes, 100, 50, ["from=1"]) as rack:
                ended = write_all(rack, image, nodes, *words)
            walls[name].append(show(name, ended))
            cpus[name].append(median([each.cpu for each in ended]))
    figures = {
        name: {"wall": median(walls[name]), "cpu": median(cpus[name]), "wall_min": min(walls[name]),
               "wall_max": max(walls[name])}
        for name in walls
    }  # fmt: skip
    return figures, [
        Bar("time of eight by time of one", figures["eight"]["wall"] / figures["one"]["wall"], 1.15),
        Bar("CPU of a writer by its CPU by HTTP", figures["eight"]["cpu"] / figures["http"]["cpu"], 1.25),
    ]


def unicast(directory: Path, rounds: int) -> Case:
    """Line 5: a lone node that may use multicast, and nodes behind a network that drops it, beside HTTP alone."""
    image = make_image(directory, "small", 66, 308_000)
    figures: dict[str, Any] = {}
    bars = []
    for nodes, drops, times in ((1, False, 2 * rounds), (2, True, rounds), (NODES, True, rounds)):
        walls: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(times):
            for may in (False, True):
                with Rack(directory, nodes, 100, 70) as rack:
                    if drops:
                        rack.switch.drop("")
                    words = multicast("mode=full", nodes=nodes) if may else ["mode=full"]
                    walls[may].append(show(f"{nodes}, multicast {may}", write_all(rack, image, nodes, *words)))
        plain, own = median(walls[False]), median(walls[True])
        figures[f"{nodes} by HTTP"] = {"wall": plain}
        figures[f"{nodes} that may use multicast"] = {"wall": own}
        more = 0.5 if drops else 0
        bars.append(Bar(f"{nodes}: time by HTTP alone", (own - more) / plain, 1.05 if drops else 1.03))
    return figures, bars


def die(rack: Rack, kind: int, writers: list[subprocess.Popen[str]], image: Image) -> None:
    """The sender, a node, the server, or the sender and a node."""
    if kind in (0, 3):
        rack.kill(rack.sender)
        rack.start_sender()
    if kind in (1, 3):
        rack.kill(writers[0])
        writers[0] = rack.writer(0, image, target(rack, 0), *multicast("mode=full", nodes=4))
    if kind == 2:
        rack.kill(rack.sender)
        rack.kill(rack.nginx)
        time.sleep(1)
        rack.start_nginx()
        rack.start_sender()


def death(directory: Path, rounds: int) -> Case:
    """Line 7: deaths at seeded moments of a write by 4."""
    image = make_image(directory, "small", 66, 308_000)
    chance = random.Random(7)
    walls = []
    resumed = 0
    for number in range(DEATHS if rounds > 1 else DEATHS // 5):
        with Rack(directory, 4, 100, 70) as rack:
            writers = start(rack, image, 4, *multicast("mode=full", nodes=4))
            time.sleep(chance.uniform(0.2, 3.0))
            die(rack, number % 4, writers, image)
            ended = wait_all(writers)
            check(rack, image, 4)
        walls.append(show(f"death {number}, kind {number % 4}", ended))
        resumed += "interrupted" in ended[0].out
    return {"with a death": {"wall": median(walls), "wall_max": max(walls), "resumed": resumed}}, []


def frames(image: Image, lacking: set[int]) -> int:
    """Bytes of these chunks in the file."""
    chunks = image.index().chunks
    return sum(chunks[i].frame for i in lacking)


def lacks(rack: Rack, image: Image, node: int, lacking: set[int]) -> None:
    """A disk with the image, but for these chunks."""
    disk = target(rack, node)
    raw = image.path.with_name(image.path.name.removesuffix(".zst"))
    subprocess.run(["cp", "--sparse=always", raw, disk], check=True)
    with disk.open("r+b") as file:
        for i in lacking:
            file.seek(i * MIB)
            file.write(bytes(4096))


def delta(directory: Path, rounds: int) -> Case:
    """Line 10: 8 nodes that lack the same tenth, and different ones, then a node that resumes."""
    image = make_image(directory, "delta", 201, 420_000)
    figures: dict[str, Any] = {}
    bars = []
    tenths = [set(range(1 + 20 * i, 21 + 20 * i)) for i in range(NODES)]
    for name, lacking in (("the same tenth", [tenths[3]] * NODES), ("different tenths", tenths)):
        found = []
        for _ in range(rounds):
            with Rack(directory, NODES, 100, 70) as rack:
                for node, chunks in enumerate(lacking):
                    lacks(rack, image, node, chunks)
                ended = wait_all(start(rack, image, NODES, *multicast("mode=delta", nodes=NODES)))
                check(rack, image, NODES)
                sent = rack.multicast_bytes(image) + sum(fetched(one.out) for one in ended)
            found.append(sent / frames(image, set().union(*lacking)))
            show(f"{name}: {found[-1]:.3f} of the union", ended)
        figures[name] = {"copies": max(found)}
        bars.append(Bar(f"{name}: server bytes by the union", median(found), 1.1))
    figures["resume"], bar = resume(directory, image)
    return figures, [*bars, bar]


def fetched(out: str) -> int:
    """Bytes by HTTP, of what a write printed, to the next MB."""
    return int(out.rpartition("fetched ")[2].split()[0]) * 1_000_000


def resume(directory: Path, image: Image) -> tuple[dict[str, Any], Bar]:
    """A node is killed in the middle and starts again."""
    with Rack(directory, 1, 100, 70, ["from=1"]) as rack:
        (writer,) = start(rack, image, 1, *multicast("mode=full"))
        time.sleep(5)
        rack.kill(writer)
        written = target(rack, 0).read_bytes()
        raw = image.path.with_name(image.path.name.removesuffix(".zst")).read_bytes()
        lacking = {i for i in range(201) if written[i * MIB : (i + 1) * MIB] != raw[i * MIB : (i + 1) * MIB]}
        time.sleep(2)  # what the first one requested leaves
        rack.kill(rack.sender)
        rack.start_sender()
        (ended,) = wait_all(start(rack, image, 1, *multicast("mode=full")))
        check(rack, image, 1)
        sent = rack.multicast_bytes(image)
    show("resume", [ended])
    lacked = frames(image, lacking)
    return {"lacked": lacked, "sent": sent}, Bar("resume: sent by what was lacking", sent / lacked, 1.02)
