#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rollout.py OUT: what a rollout costs the controller, over nodes that run in one process. Run by `make bench-rollout`.

OUT.json and a table. SIZES="8 40 400 2000" nodes, in waves of BATCH=100. CPU seconds are those of ansible-playbook and
all that it runs, without sledd and without the nodes.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from ansible_collections.sled.fleet.tests.rollout.fleet import Fleet, at
from ansible_collections.sled.fleet.tests.rollout.rack import Rack
from measure import line, save

SIZES = [int(size) for size in os.environ.get("SIZES", "8 40 400 2000").split()]
HOOKS = [int(size) for size in os.environ.get("HOOKS", "40").split()]  # sizes that also run with hooks
BATCH = int(os.environ.get("BATCH", "100"))
DEADLINE = 7200  # seconds for one playbook


def play(fleet: Fleet, *extra: str) -> dict[str, Any]:
    """Runs the playbook; its wall and CPU seconds, and the memory of its largest process."""
    start = time.monotonic()
    playbook = fleet.play("-f", str(BATCH), *extra, rollout={"batch": str(BATCH)})
    alarm = threading.Timer(DEADLINE, playbook.kill)
    alarm.start()
    _, status, used = os.wait4(playbook.pid, 0)  # with all that it has waited for
    alarm.cancel()
    playbook.returncode = os.waitstatus_to_exitcode(status)
    if playbook.returncode:
        sys.exit(f"bench: the playbook ended with code {playbook.returncode}: {fleet.folder}/playbook.log")
    wall, cpu = time.monotonic() - start, used.ru_utime + used.ru_stime
    return {"wall": round(wall, 1), "cpu": round(cpu, 1), "rss": used.ru_maxrss << 10}


def own_time(fleet: Fleet) -> float:
    """Median seconds that a node needed by itself, from its power-on to its report."""
    spans = []
    for node in fleet.nodes[:50]:
        events = fleet.events(node)
        first = next(at(event) for event in events if event["kind"] == "power")
        spans.append(next(at(event) for event in events if event["kind"] == "operational") - first)
    return round(statistics.median(spans), 1)


def measured(size: int, hooks: bool) -> dict[str, Any]:
    """A rollout over nodes that are off, and the same playbook when there is nothing to do."""
    with tempfile.TemporaryDirectory(prefix="sled-bench-") as folder:
        fleet = Rack(Path(folder), size, racks=max(size // 40, 1), hooks=hooks)
        try:
            fleet.begin()
            image, again = play(fleet), play(fleet)
            own = own_time(fleet)
        finally:
            fleet.end()
    waves = -(-size // BATCH)
    return {"nodes": size, "hooks": hooks, "waves": waves, "own": own, "image": image, "again": again}


def table(found: list[dict[str, Any]]) -> str:
    """For a terminal."""
    rows = [["nodes", "hooks", "waves", "wall s", "CPU s", "a node", "MiB", "own time s", "nothing to do s", "CPU s"]]
    for one in found:
        image, again = one["image"], one["again"]
        rows.append(
            [
                str(one["nodes"]),
                "yes" if one["hooks"] else "no",
                str(one["waves"]),
                f"{image['wall']:.1f}",
                f"{image['cpu']:.1f}",
                f"{image['cpu'] / one['nodes']:.2f}",
                str(image["rss"] >> 20),
                f"{one['own']:.1f}",
                f"{again['wall']:.1f}",
                f"{again['cpu']:.1f}",
            ]
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(line(row, widths) for row in rows)


def main() -> None:
    """Measures all sizes."""
    found = []
    for size, hooks in [(size, False) for size in SIZES] + [(size, True) for size in SIZES if size in HOOKS]:
        found.append(measured(size, hooks))
        print(table(found[-1:]), flush=True)
    save(Path(sys.argv[1]), {"batch": BATCH, "cores": os.cpu_count(), "runs": found})
    print(table(found))


if __name__ == "__main__":
    main()
