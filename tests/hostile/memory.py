# SPDX-License-Identifier: Apache-2.0
"""A stranger before, during and after the start of a node that runs from memory, for each kind of binding."""

from __future__ import annotations

import concurrent.futures
import contextlib
import itertools
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from ansible_collections.sled.fleet.tests.hostile import attacks, more
from ansible_collections.sled.fleet.tests.hostile.attacks import Attack
from ansible_collections.sled.fleet.tests.hostile.machine import Machine, by_level, idle
from ansible_collections.sled.fleet.tests.hostile.site import DEADLINE, DIGEST, KEY, SECRET, Json, Site
from ansible_collections.sled.fleet.tests.hostile.stranger import (
    ALARM,
    FALSE_UP,
    GAINS,
    HELD,
    NOTHING,
    SECRETS,
    Stranger,
    gain,
)

READY = "payload: ready"
RIVAL = 45  # seconds, the least that sledd takes
Gains = dict[tuple[str, str], str]  # by kind and moment


@dataclass(frozen=True)
class Kind:
    """A kind of binding."""

    image: str
    payload: Json | None = None  # of a kernel; none: a root
    secret: bool = False

    @property
    def spec(self) -> Json:
        """What the image has beside a file."""
        return {"kind": "kernel", "payload": self.payload} if self.payload else {"kind": "root"}

    @property
    def confirm(self) -> str:
        """How it confirms; empty: as an installed system."""
        return str(self.payload["confirm"]) if self.payload else ""


UNCONFIRMED = "a linux kernel that does not confirm"
KINDS = {
    "a root": Kind("ram"),
    "a root, with keys and user data": Kind("ram", secret=True),
    "a linux kernel that confirms by http": Kind(
        "linux", {"format": "linux", "confirm": "http", "arguments": "up={confirm}"}
    ),
    "a multiboot kernel that confirms by http": Kind(
        "elf", {"format": "multiboot", "confirm": "http", "arguments": "up={confirm}"}
    ),
    "a multiboot kernel that confirms by console": Kind(
        "serial", {"format": "multiboot", "confirm": "console", "console": READY}
    ),
    UNCONFIRMED: Kind("silent", {"format": "linux", "confirm": "none"}),
}


class MemoryMachine(Machine):
    """A node that is bound to an image that runs from memory: what confirms that it runs is worth a false up."""

    worthless = re.compile(rb"sled[cop]_")

    def __init__(self, site: Site, kind: Kind) -> None:
        super().__init__(site)
        self.kind = kind
        site.shows(self.mac, "its console is recorded")

    def waits_for_power(self) -> None:
        """Bound, and nobody expects its boot."""
        secrets: Json = {"user_data": SECRET, "authorized_keys": [KEY]} if self.kind.secret else {}
        self.bind(image=self.kind.image, **secrets)

    def fetches(self) -> None:
        self.waits_for_power()
        self.enter(by_level(self) if self.kind.secret or self.site.level == "proven" else "")
        confirms = re.search("/up/([0-9a-z_]+)", unquote(self.plan()))
        assert (confirms is not None) == (self.kind.confirm == "http")
        self.up = confirms[1] if confirms else ""
        self.report(f"begin step=1 of={2 if self.kind.payload else 3} verb=fetch")

    def jumps(self) -> None:
        self.fetches()
        steps = ("start",) if self.kind.payload else ("configure", "start")
        self.does("fetch", of=1 + len(steps))
        if not self.kind.payload:
            self.seeds()
        for step, verb in enumerate(steps, 2):
            begin, end = f"begin step={step} of={1 + len(steps)} verb={verb}", f"end step={step} verb={verb} code=0"
            assert self.report(begin, f"{end} seconds=0.1").status == 204
        self.token = ""

    def seeds(self) -> None:
        """Gets its seed, at level expected once no other machine has claimed to be it for the rival time."""
        deadline = time.monotonic() + RIVAL + DEADLINE
        while self.say("GET", "seed").status == 409:
            assert time.monotonic() < deadline, self.site.admission(self.name)
            time.sleep(3)
            assert self.alive()
        self.seed()

    def runs(self) -> None:
        self.jumps()
        if self.up:
            assert self.links.request("GET", f"/up/{self.up}", plain=True).status == 200
        if not self.kind.payload:
            self.operational()
        if self.kind.confirm == "console":
            time.sleep(1)  # a line of the second of the jump does not count
            self.site.shows(self.mac, READY)
            deadline = time.monotonic() + DEADLINE
            while self.site.node(self.name)["status"]["phase"] != "operational":
                assert time.monotonic() < deadline, self.site.node(self.name)
                time.sleep(0.1)


MOMENTS: dict[str, Callable[[MemoryMachine], None]] = {
    "before its start": MemoryMachine.waits_for_power,
    "while it fetches": MemoryMachine.fetches,
    "after the jump": MemoryMachine.jumps,
    "while it runs": MemoryMachine.runs,
}


def confirm_with_tokens(stranger: Stranger) -> None:
    """Confirms with invented tokens, with those of a neighbour, and with those that the node has used."""
    victim, plain = stranger.victim, stranger.victim.mac.replace(":", "")
    tokens = [stranger.neighbour.token, victim.claim, victim.token, victim.installed]
    tokens += [f"sledp_{plain}_{stranger.generation}_{digit * 64}" for digit in "0f"]
    tokens += ["", "sledp_", "sledp_" + "a" * 4000, "..%2fv1%2fnodes"]
    if victim.site.node(victim.name)["status"]["phase"] != "starting":
        tokens.append(victim.up)
    for token in tokens:
        for method in ("GET", "HEAD", "POST"):
            stranger.request(method, f"/up/{token}", plain=True)


def use_the_token_that_is_sent_in_clear(stranger: Stranger) -> None:
    """Reads the payload's own confirmation on the network, sends it first, and as the token of every other request."""
    stranger.request("GET", f"/up/{stranger.victim.up}", plain=True)
    stranger.hello(stranger.victim.up)
    stranger.everything(stranger.victim.up)


ATTACKS: tuple[Attack, ...] = (
    attacks.claim_and_ask,
    attacks.claim_and_wait,
    attacks.use_an_old_token,
    attacks.end_the_victim,
    more.claim_from_the_victims_address,
    confirm_with_tokens,
    use_the_token_that_is_sent_in_clear,
)


def register(site: Site) -> None:
    """Registers the images."""
    for number, kind in enumerate({kind.image: kind for kind in KINDS.values()}.values()):
        digest = f"{DIGEST[:-2]}{number:02d}"
        image = {
            "name": kind.image,
            "digest": digest,
            "urls": [f"http://127.0.0.1:{site.ports[0]}/images/{kind.image}"],
        }
        site.operator("PUT", f"/v1/images/{kind.image}", image | kind.spec | {"bytes": 1 << 20, "file_bytes": 1 << 20})


def run(level: str, folder: Path) -> tuple[Gains, list[str]]:
    """What the best of all attacks gets of a new node of each kind at each moment, and the files that hold a token."""
    site = Site(folder / f"memory-{level}", level, rival=RIVAL)
    try:
        site.begin()
        register(site)
        neighbour = Machine(site)
        idle(neighbour)
        keys = [key for key in itertools.product(KINDS, MOMENTS) if key != (UNCONFIRMED, "while it runs")]
        with concurrent.futures.ThreadPoolExecutor(32) as pool:  # most wait for the rival time
            runs = {key: [pool.submit(one, site, neighbour, *key, attack) for attack in ATTACKS] for key in keys}
            gains = {key: max((run.result() for run in tried), key=GAINS.index) for key, tried in runs.items()}
    finally:
        site.end()
    return gains, site.left()


def one(site: Site, neighbour: Machine, kind: str, moment: str, attack: Attack) -> str:
    """One attack."""
    victim = MemoryMachine(site, KINDS[kind])
    MOMENTS[moment](victim)
    if attack is use_the_token_that_is_sent_in_clear and not victim.up:
        return NOTHING
    try:
        with contextlib.closing(victim.links), contextlib.closing(Stranger(victim, neighbour)) as stranger:
            attack(stranger)
            return gain(stranger)
    except Exception as error:
        raise RuntimeError(f"{site.level}, {kind}, {moment}, {attack.__name__}") from error


def broken(results: dict[str, Gains]) -> list[str]:
    """Where a stranger gets more than a false up, or the secrets of a node at another level than open."""
    return [
        f"{kind} {moment}, at level {level}: {found}"
        for level, gains in results.items()
        for (kind, moment), found in gains.items()
        if GAINS.index(found) > GAINS.index(allowed(level, kind, moment))
    ]


def allowed(level: str, kind: str, moment: str) -> str:
    """The most that a stranger may get."""
    if KINDS[kind].secret:
        return {"open": SECRETS, "expected": HELD, "proven": ALARM}[level]
    in_clear = KINDS[kind].confirm == "http" and moment == "after the jump"
    return ALARM if level == "proven" and not in_clear else FALSE_UP
