#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""paths.py OUT: how long a reimage takes by each entry method. Run by `make bench-paths`.

OUT.json and a table. A lab of two machines is built, and taken down at the end. Each round images the first once by
each method, and the second, whose firmware tests itself for SELF_TEST seconds, once by power; totals and stages are
those of sledd's timelines. KEEP=1 leaves the lab.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from measure import line, save

ROUNDS = int(os.environ.get("ROUNDS", "5"))
SELF_TEST = int(os.environ.setdefault("SELF_TEST", "60"))
METHODS = {  # what is measured: node and entry method
    "idle": ("n1", "idle"),
    "warm": ("n1", "warm"),
    "power": ("n1", "power"),
    f"power, self-test {SELF_TEST} s": ("n2", "power"),
}
WIDTH = max(map(len, METHODS))
# BEGIN words: stages-python (from contract/words/stages.yml by tools/words.py)
STAGES = ("firmware", "warm", "kernel", "wipe", "write", "configure", "capture", "start")
# END words
LAB = os.environ["SLED_LAB_NAME"]
DIRECTORY = Path(os.environ["SLED_LAB"])
SECRETS = DIRECTORY / "secrets"
KEEP = bool(os.environ.get("KEEP"))
DEADLINE = 1800  # seconds for one playbook
Timeline = dict[str, Any]


def playbook(path: str, *options: str, inside: bool = True) -> None:
    """Runs one, in the lab's network if it speaks to its machines. Its output is shown when it fails."""
    words = ["nsenter", f"--net=/run/netns/{LAB}"] if inside else []
    words += ["ansible-playbook", "-i", "inventory/lab", "-i", "bench/paths.inventory.yml", path, *options]
    done = subprocess.run(
        words, timeout=DEADLINE, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode != 0:
        sys.exit(f"bench: {path} {' '.join(options)} failed:\n{done.stdout[-4000:]}{done.stderr[-2000:]}")


def take_down() -> None:
    """Nothing is left of the lab."""
    playbook("playbooks/lab.yml", "-e", "lab_state=absent", inside=False)


def timeline(node: str) -> Timeline:
    """A machine's newest run, as sledd saw it."""
    words = [
        "nsenter",
        f"--net=/run/netns/{LAB}",
        "build/bin/sledctl",
        "--server",
        "https://10.77.0.1",
        "--ca",
        str(SECRETS / "ca.crt"),
    ]
    words += ["--token-file", str(SECRETS / "admin.token"), "timeline", node, "-o", "json"]
    found: Timeline = json.loads(subprocess.run(words, timeout=60, check=True, stdout=subprocess.PIPE).stdout)
    return found


def measure() -> dict[str, list[Timeline]]:
    """All methods in turn: what disturbs the machine disturbs them alike."""
    runs: dict[str, list[Timeline]] = {name: [] for name in METHODS}
    for number in range(ROUNDS):
        for name, (node, method) in METHODS.items():
            playbook("bench/paths.yml", "-e", f"entry_method={method}", "--limit", node)
            runs[name].append(timeline(node))
            print(f"  round {number + 1}/{ROUNDS}  {name:<{WIDTH}} {runs[name][-1]['total']:7.1f} s", flush=True)
    return runs


def figures(runs: list[Timeline]) -> dict[str, Any]:
    """Medians of the total and of each stage."""
    totals = [one["total"] for one in runs]
    stages = {
        name: [stage["seconds"] for one in runs for stage in one["stages"] if stage["name"] == name] for name in STAGES
    }
    return {
        "total": round(statistics.median(totals), 2),
        "min": round(min(totals), 2),
        "max": round(max(totals), 2),
        "stages": {name: round(statistics.median(seconds), 2) for name, seconds in stages.items() if seconds},
        "runs": [
            {"total": one["total"], **{stage["name"]: stage["seconds"] for stage in one["stages"]}} for one in runs
        ],
    }


def table(found: dict[str, dict[str, Any]]) -> str:
    """For a terminal."""
    rows = [["entry method", "total s", "range", *STAGES]]
    for method, one in found.items():
        spread = f"{one['min']:.1f}-{one['max']:.1f}"
        seconds = [f"{one['stages'][name]:.1f}" if name in one["stages"] else "-" for name in STAGES]
        rows.append([method, f"{one['total']:.1f}", spread, *seconds])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(line(row, widths) for row in rows)


def main() -> None:
    """Builds the lab, measures, and takes it down."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: terminated"))  # and the lab goes too
    os.environ["NODES"] = "2"
    if DIRECTORY.exists() and not KEEP:
        take_down()  # of a run that was kept, or killed
    try:
        playbook("playbooks/lab.yml", inside=False)
        playbook("playbooks/images.yml", "--tags", "build", inside=False)
        for name in ("site", "images", "enroll", "reimage"):
            playbook(f"playbooks/{name}.yml")
        found = {method: figures(runs) for method, runs in measure().items()}
    finally:
        if not KEEP:
            take_down()
    order = " < ".join(sorted(found, key=lambda method: float(found[method]["total"])))
    save(
        Path(sys.argv[1]),
        {"rounds": ROUNDS, "cores": os.cpu_count(), "self_test": SELF_TEST, "order": order, "entry_methods": found},
    )
    print(table(found))
    print(f"medians: {order}")


if __name__ == "__main__":
    main()
