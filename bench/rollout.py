#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rollout.py OUT: what a rollout costs the controller, over nodes that run in one process. Run by `make bench-rollout`.

OUT.json and a table. SIZES="8 40 400 2000" nodes, in waves of BATCH=100, switched by POWER="button redfish": the
double of a driver in the playbook's process (callback/button.py), or BMCs with TLS. CPU seconds are those of
ansible-playbook and all that it runs, without sledd and without the nodes.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.tests.rollout.fleet import Fleet, at
from ansible_collections.sled.fleet.tests.rollout.rack import Rack
from measure import line, save

SIZES = [int(size) for size in os.environ.get("SIZES", "8 40 400 2000").split()]
HOOKS = [int(size) for size in os.environ.get("HOOKS", "40").split()]  # sizes that also run with hooks
POWER = os.environ.get("POWER", "button redfish").split()
BATCH = int(os.environ.get("BATCH", "100"))
COLUMNS = (
    *("nodes", "power", "hooks", "waves", "wall s", "CPU s", "a node", "MiB", "sledd CPU s", "nodes CPU s"),
    *("own s", "run s", "ratio", "nothing to do s", "CPU s"),
)
MEMORY = "/dev/shm"
DEADLINE = 7200  # seconds for one playbook


class Buttons(Rack):
    """A rack whose machines are switched by the double of a driver."""

    environment = MappingProxyType(
        {"ANSIBLE_CALLBACK_PLUGINS": str(Path(__file__).parent / "callback"), "ANSIBLE_CALLBACKS_ENABLED": "button"}
    )

    def control(self, node: str) -> Json:
        """Its machine."""
        return {"power_mac": self.macs[node]}

    def controls(self) -> Json:
        """The buttons."""
        return {"power_driver": "button", "power_port": self.buttons}


RACKS = {"button": Buttons, "redfish": Rack}


def used_by(process: subprocess.Popen[Any]) -> float:
    """CPU seconds of a process that runs."""
    fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def play(fleet: Rack, *extra: str) -> dict[str, Any]:
    """Runs the playbook; its wall and CPU seconds, and the memory of its largest process."""
    others = [process for process in (fleet._sledd, fleet._process) if process]
    before = [used_by(process) for process in others]
    start = time.monotonic()
    playbook = fleet.play("-f", str(BATCH), *extra, rollout={"batch": str(BATCH)})
    alarm = threading.Timer(DEADLINE, playbook.kill)
    alarm.start()
    _, status, used = os.wait4(playbook.pid, 0)  # with all that it has waited for
    alarm.cancel()
    playbook.returncode = os.waitstatus_to_exitcode(status)
    if playbook.returncode:
        log = (fleet.folder / "playbook.log").read_text()
        sys.exit(f"bench: the playbook ended with code {playbook.returncode}:\n{log[-2000:]}")
    wall, cpu = time.monotonic() - start, used.ru_utime + used.ru_stime
    sledd, nodes = (round(used_by(process) - was, 1) for process, was in zip(others, before, strict=True))
    return {"wall": round(wall, 1), "cpu": round(cpu, 1), "rss": used.ru_maxrss << 10, "sledd": sledd, "nodes": nodes}


def own_time(fleet: Fleet) -> float:
    """Median seconds that a node needed by itself, from its power-on to its report."""
    spans = []
    for node in fleet.nodes[:50]:
        events = fleet.events(node)
        first = next(at(event) for event in events if event["kind"] == "power")
        spans.append(next(at(event) for event in events if event["kind"] == "operational") - first)
    return round(statistics.median(spans), 2)


def run_time(fleet: Fleet) -> float:
    """Median seconds of a node's run as sledd has recorded it, which starts before its power is read."""
    runs = fleet.client.find("rollouts", fleet.rollouts()[0]["name"]) or {}
    ends = [(datetime.fromisoformat(run[name][:26].rstrip("Z")) for name in ("end", "begin")) for run in runs["runs"]]
    return round(statistics.median((end - begin).total_seconds() for end, begin in ends), 1)


def measured(size: int, power: str, hooks: bool) -> dict[str, Any]:
    """A rollout over nodes that are off, and the same playbook when there is nothing to do."""
    # What the machines keep is in memory: they have no disk in common with sledd.
    with tempfile.TemporaryDirectory(prefix="sled-bench-") as folder, tempfile.TemporaryDirectory(dir=MEMORY) as memory:
        doubles = Path(memory, "doubles")
        fleet = RACKS[power](Path(folder), size, racks=max(size // 40, 1), hooks=hooks, doubles=doubles)
        try:
            fleet.begin()
            image, again = play(fleet), play(fleet)
            own, run = own_time(fleet), run_time(fleet)
        finally:
            fleet.end()
    waves = -(-size // BATCH)
    ratio = round(image["wall"] / (waves * own), 3)
    about = {"nodes": size, "power": power, "hooks": hooks, "waves": waves}
    return {**about, "own": own, "run": run, "ratio": ratio, "image": image, "again": again}


def table(found: list[dict[str, Any]]) -> str:
    """For a terminal."""
    rows = [list(COLUMNS)]
    for one in found:
        image, again = one["image"], one["again"]
        rows.append(
            [
                str(one["nodes"]),
                one["power"],
                "yes" if one["hooks"] else "no",
                str(one["waves"]),
                f"{image['wall']:.1f}",
                f"{image['cpu']:.1f}",
                f"{image['cpu'] / one['nodes']:.2f}",
                str(image["rss"] >> 20),
                f"{image['sledd']:.1f}",
                f"{image['nodes']:.1f}",
                f"{one['own']:.1f}",
                f"{one['run']:.1f}",
                f"{one['ratio']:.2f}",
                f"{again['wall']:.1f}",
                f"{again['cpu']:.1f}",
            ]
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(line(row, widths) for row in rows)


def main() -> None:
    """Measures all sizes."""
    found = []
    plain = [(size, power, False) for power in POWER for size in SIZES]
    for case in [*plain, *((size, POWER[-1], True) for size in SIZES if size in HOOKS)]:
        found.append(measured(*case))
        print(table(found[-1:]), flush=True)
    save(Path(sys.argv[1]), {"batch": BATCH, "cores": os.cpu_count(), "runs": found})
    print(table(found))


if __name__ == "__main__":
    main()
