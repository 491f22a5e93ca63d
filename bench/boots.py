#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""boots.py OUT: what boots cost sledd, from the boot script to the first plan, and how fast a node that waits gets one.

Run by `make bench-boots`, which builds sledd of the commit BEFORE, too.

OUT.json and a table. Each boot sends the requests of the Sled system, over HTTP and without a web server in front. CPU
seconds are those of sledd with its embedded etcd. NODES=1000 machines boot, THREADS=32 at a time.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import statistics
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from fleet import SLEDD, Sledd, mac
from measure import line, save

ROUNDS = int(os.environ.get("ROUNDS", "3"))
NODES = int(os.environ.get("NODES", "1000"))
THREADS = int(os.environ.get("THREADS", "32"))
BINDS = 50  # of nodes that wait
IMAGE = "debian-12-v1"
BEFORE = Path("build/bench/before/sledd")
TOKEN = re.compile(rb"sled\.token=(\S+)")
FACTS = """facts 1
boot {boot}
kernel release=6.1.0 uptime=8.1
cpu model=double threads=2 arch=x86_64
memory bytes=2147483648
disk name=vda serial=LAB-{number:04d} bytes=4294967296 transport=virtio
nic name=eth0 mac={mac}
"""
Measured = dict[str, list[float]]  # name: a figure of each round


class Machine:
    """Boots as a node does, up to its first plan."""

    def __init__(self, site: Sledd, number: int) -> None:
        self.site, self.number, self.mac = site, number, mac(number)
        self.path = f"/node/v1/{self.mac.replace(':', '-')}"
        self.token = ""

    def ask(self, method: str, path: str, body: str = "") -> bytes:
        """One request, each on another connection as by sledc."""
        link = http.client.HTTPConnection(self.site.address, timeout=90)
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        link.request(method, path, body or None, headers)
        answer = link.getresponse()
        text = answer.read()
        link.close()
        if answer.status >= 300:
            raise SystemExit(f"bench: {method} {path}: {answer.status}: {text.decode()}")
        self.token = answer.getheader("Sled-Token") or self.token
        return text

    def boot(self, ticket: str = "") -> None:
        """From the boot script to the plan. Before there were claims, the script held the token."""
        boot = f"boot-{self.number}"
        facts = FACTS.format(boot=boot, number=self.number, mac=self.mac)
        held = TOKEN.search(self.ask("GET", f"/boot/{self.mac.replace(':', '-')}.ipxe"))
        if held:
            self.token = held.group(1).decode("ascii")
        else:
            self.token = ticket
            self.ask("POST", f"{self.path}/hello", f"hello 1\nboot id={boot} nic={self.mac}\n")
        self.ask("POST", f"{self.path}/facts", facts)
        if self.token.startswith("sledc_"):  # the facts did not admit the claim
            self.ask("GET", f"{self.path}/plan?wait=60")
            self.ask("POST", f"{self.path}/facts", facts)
        plan = self.ask("GET", f"{self.path}/plan?wait=60")
        if not plan.startswith(b"plan 1\n"):
            raise SystemExit(f"bench: {self.mac}: no plan: {plan!r}")
        self.run = int(plan.split()[5])


class Case:
    """A sledd, and what its operators do before a machine boots."""

    def __init__(self, name: str, program: str, level: str = "") -> None:
        self.name, self.program, self.level = name, program, level
        self.found: Measured = {"cpu": [], "wall": [], "bind": []}

    def run(self) -> None:
        """Boots all machines, then binds some of those that wait."""
        options = ["--admission", self.level] if self.level else []
        with Sledd(NODES, (IMAGE, "debian-12-v2"), self.program, options) as site, ThreadPoolExecutor(THREADS) as pool:
            tickets = list(pool.map(lambda number: self._prepare(site, number), range(NODES)))
            machines = [Machine(site, number) for number in range(NODES)]
            cpu, wall = site.cpu(), time.monotonic()
            list(pool.map(Machine.boot, machines, tickets))
            self.found["cpu"].append(round(site.cpu() - cpu, 2))
            self.found["wall"].append(round(time.monotonic() - wall, 2))
            self.found["bind"].append(round(max(bind(site, machine) for machine in machines[:BINDS]), 4))
        figures = ", ".join(f"{what} {found[-1]}" for what, found in self.found.items())
        print(f"  {self.name:<10} {figures}", flush=True)

    def _prepare(self, site: Sledd, number: int) -> str:
        name = f"n{number}"
        site.call("PUT", f"/v1/bindings/{name}", {"node": name, "image": IMAGE})
        if self.level == "expected":
            site.call("POST", f"/v1/nodes/{name}/expect", {"by": "power", "seconds": 3600})
        if self.level == "proven":
            return str(json.loads(site.call("POST", f"/v1/nodes/{name}/tickets", None))["token"])
        return ""


def bind(site: Sledd, machine: Machine) -> float:
    """Seconds from the request that binds a node to the first byte of the plan that it waits for."""
    begun = threading.Event()
    arrived: list[float] = []

    def wait() -> None:
        link = http.client.HTTPConnection(site.address, timeout=90)
        path = f"{machine.path}/plan?run={machine.run}&wait=60"
        link.request("GET", path, headers={"Authorization": f"Bearer {machine.token}"})
        begun.set()
        answer = link.getresponse()
        arrived.append(time.monotonic())
        if answer.status != 200:
            raise SystemExit(f"bench: {path}: {answer.status}")
        link.close()

    thread = threading.Thread(target=wait)
    thread.start()
    begun.wait()
    time.sleep(0.1)  # until the poll waits in sledd
    start = time.monotonic()
    site.call("PUT", f"/v1/bindings/n{machine.number}", {"node": f"n{machine.number}", "image": "debian-12-v2"})
    thread.join()
    return arrived[0] - start


def report(cases: list[Case]) -> dict[str, Any]:
    """A table of medians, and the same as data."""
    first = statistics.median(cases[0].found["cpu"])
    rows = [["", "CPU s", "range", f"of {cases[0].name}", "wall s", "bind to plan, max s"]]
    data: dict[str, Any] = {"nodes": NODES, "rounds": ROUNDS}
    for case in cases:
        cpu, wall = statistics.median(case.found["cpu"]), statistics.median(case.found["wall"])
        spread = f"{min(case.found['cpu']):.2f}-{max(case.found['cpu']):.2f}"
        bound = str(max(case.found["bind"]))
        rows.append([case.name, f"{cpu:.2f}", spread, f"{cpu / first:.2f}x", f"{wall:.1f}", bound])
        data[case.name] = case.found
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    print("\n".join(line(row, widths) for row in rows))
    return data


def main() -> None:
    """All cases in turn, ROUNDS times: what disturbs the machine disturbs them alike."""
    cases = [Case("before", str(BEFORE))] if BEFORE.exists() else []
    cases += [Case(level, SLEDD, level) for level in ("open", "expected", "proven")]
    for number in range(ROUNDS):
        print(f"round {number + 1}/{ROUNDS}: {NODES} boots", flush=True)
        for case in cases:
            case.run()
    save(Path(sys.argv[1]), report(cases))


if __name__ == "__main__":
    main()
