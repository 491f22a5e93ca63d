# SPDX-License-Identifier: Apache-2.0
"""A flood of claims to be a node, while its machine claims to be it and an operator reads its code."""

from __future__ import annotations

import concurrent.futures
import contextlib
import itertools
import subprocess
import textwrap
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.sled.fleet.tests.hostile.machine import Machine
from ansible_collections.sled.fleet.tests.hostile.site import DEADLINE, Site

ADDRESSES = (1, 40, 400)
LINKS = {"same": 96, "other": 112}  # what the neighbour table knows of the strangers; third octet of their addresses
LEVELS = ("expected", "proven")
SENDERS = 4
FIRST = 3.0  # seconds that the strangers are ahead of the machine
ADMITTED = 15.0  # seconds from its claim, within which the machine is admitted
READ = 20.0  # seconds from the reading of a code to its being entered
GROWTH = 1 << 20  # bytes that the store may grow by
OTHER = "52:54:00:ff:ff:ff"


@dataclass
class Result:
    """What a flood did."""

    claims: int = 0
    admitted: float = 0.0  # seconds, by the recorded console
    entered: float = 0.0  # seconds from the operator's act, by a code that was read before
    alarms: bool = True
    grown: int = 0  # bytes, of the site

    def broken(self) -> list[str]:
        """The limits that are exceeded."""
        limits = {
            f"the machine was admitted after {self.admitted:.1f} s": self.admitted > ADMITTED,
            f"the code was worth something after {self.entered:.1f} s": self.entered > ADMITTED,
            "no alarm": not self.alarms,
            f"the store grew by {self.grown} bytes": self.grown > GROWTH,
        }
        return [text for text, is_broken in limits.items() if is_broken]


def know(addresses: list[str], mac: str) -> None:
    """Enters addresses into the neighbour table, on a link that carries nothing."""
    lines = "".join(f"neigh replace {address} lladdr {mac} nud permanent dev sled0\n" for address in addresses)
    subprocess.run(["ip", "-batch", "-"], input=lines, text=True, check=True, capture_output=True)


def within(seconds: float) -> str:
    return f"within {ADMITTED:.0f} s" if seconds <= ADMITTED else f"after {seconds:.0f} s"


def broken(results: dict[str, dict[tuple[int, str], Result]]) -> list[str]:
    """Which floods held up a machine, or filled the store."""
    return [
        f"flood at level {level}, {number} addresses, link {link}: {text}"
        for level, found in results.items()
        for (number, link), result in found.items()
        for text in result.broken()
    ]


def table(results: dict[str, dict[tuple[int, str], Result]]) -> str:
    """What floods do to the machine and to sledd."""
    head = ["claims from", "the machine, by its recorded console", "by a code, entered 20 s after it was read",
            "alarm", "the store grows by"]  # fmt: skip
    lines = [head]
    for number in ADDRESSES:
        found = [levels[number, link] for levels in results.values() for link in LINKS]
        size = max(result.grown for result in found)
        lines.append([
            f"{number} {'address' if number == 1 else 'addresses'}",
            within(max(result.admitted for result in found)),
            within(max(result.entered for result in found)),
            "`flood`" if all(result.alarms for result in found) else "none",
            "less than 1 MiB" if size <= GROWTH else f"{size} bytes",
        ])  # fmt: skip
    rows = [f"| {' | '.join(line)} |\n" for line in lines]
    text = """Strangers claim to be the node as fast as they can, first and all the time, at levels expected and
    proven, from addresses that belong to its MAC or to another one. The machine is admitted:"""
    return f"{textwrap.fill(' '.join(text.split()), 100)}\n\n{rows[0]}{'|---' * len(head)}|\n{''.join(rows[1:])}\n"


@contextlib.contextmanager
def flood(machine: Machine, addresses: list[str], result: Result) -> Iterator[None]:
    """Claims to be a node and polls, from all the addresses, as fast as they can."""
    over, numbers = threading.Event(), itertools.count(1)

    def send(own: list[str]) -> None:
        links = {address: machine.site.links(address) for address in own}
        path = f"/node/v1/{machine.hyphens}"
        for address in itertools.cycle(own):
            if over.wait(0.02):
                break
            hello = f"hello 1\nboot id=flood-{next(numbers)} nic={machine.mac}\n".encode()
            answer = links[address].request("POST", f"{path}/hello", hello)
            if answer.token:
                result.claims += 1
                links[address].request("GET", f"{path}/plan", headers={"Authorization": f"Bearer {answer.token}"})
        for link in links.values():
            link.close()

    shares = [share for share in (addresses[sender::SENDERS] for sender in range(SENDERS)) if share]
    with concurrent.futures.ThreadPoolExecutor(SENDERS) as pool:
        senders = [pool.submit(send, share) for share in shares]
        try:
            yield
        finally:
            over.set()
            for sender in senders:
                sender.result()


def claims_by_console(machine: Machine, result: Result) -> None:
    """The machine claims to be the node; its console is recorded."""
    machine.restart()
    result.admitted = machine.waits(DEADLINE)


def claims_by_person(machine: Machine, result: Result) -> None:
    """The machine claims to be the node, and somebody enters its code later."""
    machine.restart()
    time.sleep(READ)
    begin = time.monotonic()
    machine.site.operator("POST", f"/v1/nodes/{machine.name}/admit", {"code": machine.code})
    while not machine.token:
        answer = machine.say("GET", "plan?wait=1", token=machine.claim)
        assert answer.status in (200, 204) and time.monotonic() < begin + DEADLINE, answer
        machine.token = answer.token
    result.entered = time.monotonic() - begin


def attack(site: Site, number: int, link: str) -> Result:
    """One flood of claims to be two nodes: one has a recorded console, the code of the other one is entered."""
    result = Result()
    addresses = [f"10.99.{LINKS[link] + (index >> 8)}.{index & 255}" for index in range(1, number + 1)]
    nodes = Machine(site), Machine(site)
    for node in nodes:
        node.image()
        if site.level == "expected":
            node.expect()
    know(addresses, nodes[0].mac if link == "same" else OTHER)
    with contextlib.ExitStack() as stack:
        for node in nodes:
            stack.enter_context(contextlib.closing(node.links))
            stack.enter_context(flood(node, addresses, result))
        time.sleep(FIRST)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for done in (pool.submit(claims_by_console, nodes[0], result),
                         pool.submit(claims_by_person, nodes[1], result)):  # fmt: skip
                done.result()
    result.alarms = all(
        any(alarm["kind"] == "flood" for alarm in site.admission(node.name)["alarms"]) for node in nodes
    )
    return result


def run(level: str, folder: Path) -> dict[tuple[int, str], Result]:
    """All floods at one level."""
    site = Site(folder / f"claims-{level}", level, connections=4096)
    results = {}
    try:
        site.begin()
        for number in ADDRESSES:
            before = site.stored()
            with concurrent.futures.ThreadPoolExecutor(len(LINKS)) as pool:
                floods = {link: pool.submit(attack, site, number, link) for link in LINKS}
            grown = site.stored() - before
            for link, found in floods.items():
                results[number, link] = found.result()
                results[number, link].grown = grown
    finally:
        site.end()
    return results
