# SPDX-License-Identifier: Apache-2.0
"""Runs commands and measures their cost: wall and CPU seconds, memory of the largest process."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DEADLINE = 900  # seconds for one command
Figures = dict[str, dict[str, Any]]  # of each contestant: wall and cpu in seconds, rss and bytes


@dataclass
class Run:
    """What one run of a command, with all of its children, cost."""

    wall: float
    cpu: float
    rss: int  # bytes, of the largest process


@dataclass
class Contestant:
    """A command that is run once each round. `bytes_sent` is filled in by the server."""

    name: str
    command: str
    prepare: str = ""  # a command before each run, not measured
    runs: list[Run] = field(default_factory=list)
    sent: int = 0
    clock: Callable[[], float] | None = None  # seconds that the command counted itself, in place of its wall time


def run(command: str) -> Run:
    """Runs a shell command line; when a part of a pipe fails, all of it has. GNU time measures it: this
    process is too large to be its parent."""
    with tempfile.NamedTemporaryFile() as out:
        words = ["time", "--format=%e %U %S %M", f"--output={out.name}", "bash", "-o", "pipefail", "-c", command]
        done = subprocess.run(words, timeout=DEADLINE, check=False, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            sys.exit(f"bench: failed: {command}")
        wall, user, system, rss = out.read().split()
    return Run(float(wall), float(user) + float(system), int(rss) * 1024)


def rounds(contestants: list[Contestant], count: int) -> None:
    """All of them in turn, `count` times: what disturbs the machine disturbs them alike."""
    for number in range(count):
        for contestant in contestants:
            if contestant.prepare:
                run(contestant.prepare)
            last = run(contestant.command)
            if contestant.clock:
                last.wall = contestant.clock()
            contestant.runs.append(last)
            print(
                f"  round {number + 1}/{count}  {contestant.name:<12} {last.wall:7.2f} s wall {last.cpu:7.2f} s CPU",
                flush=True,
            )


def summary(contestant: Contestant) -> dict[str, Any]:
    """Medians; memory is the largest seen."""
    walls = [one.wall for one in contestant.runs]
    return {
        "wall": round(statistics.median(walls), 3),
        "wall_min": round(min(walls), 3),
        "wall_max": round(max(walls), 3),
        "cpu": round(statistics.median(one.cpu for one in contestant.runs), 3),
        "rss": max(one.rss for one in contestant.runs),
        "bytes": contestant.sent,
    }


def save(out: Path, found: dict[str, Any]) -> None:
    """As JSON."""
    out.parent.mkdir(parents=True, exist_ok=True)
    out.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n", encoding="ascii")


def figures_table(figures: Figures, ratios: dict[str, float], size_name: str) -> str:
    """For a terminal."""
    rows = [["", "wall s", "range", "CPU s", "MiB memory", size_name, "slower by"]]
    for name, one in figures.items():
        spread = f"{one['wall_min']:.2f}-{one['wall_max']:.2f}"
        slower = f"{ratios[name]:.1f}x" if name in ratios and name != "cpu" else ""
        memory, size = str(one["rss"] >> 20), str(one["bytes"] // 10**6)
        rows.append([name, f"{one['wall']:.2f}", spread, f"{one['cpu']:.2f}", memory, size, slower])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(line(row, widths) for row in rows)


def line(row: list[str], widths: list[int]) -> str:
    """Columns, the first to the left and the others to the right."""
    return "  ".join(
        [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
    )
