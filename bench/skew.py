# SPDX-License-Identifier: Apache-2.0
"""80 receivers that start together, in clusters and spread, with two images: beside what the Frisbee paper has.

M. Hibler et al., "Fast, Scalable Disk Imaging with Frisbee", USENIX 2003, section 5: 80 clients at 100 Mbit/s.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from hosted import MANY, Case, run, spread_of
from rack import Bar, make_image, median

RATE = 30  # Mbit/s: a busy machine with two cores is not the limit; the paper has 100
SIZES = {"small": ("scaling", 131), "large": ("large", 393)}  # image and its chunks
STARTS = {"together": "", "clustered": "clusters", "uniform": "even"}  # within the time that one alone takes


class Published(NamedTuple):
    """A row of the paper."""

    seconds: float
    duplicates: float  # share


PAPER = {
    "small": {
        "together": Published(33.6, 0.032),
        "clustered": Published(35.6, 0.46),
        "uniform": Published(40.0, 0.59),
    },
    "large": {
        "together": Published(100.2, 0.073),
        "clustered": Published(113.3, 0.26),
        "uniform": Published(132.4, 0.37),
    },
}


def starts(pattern: str, alone: float) -> str:
    """Milliseconds, for the receivers."""
    kind = STARTS[pattern]
    return ",".join(str(int(at)) for at in (spread_of(kind, alone * 1000) if kind else [0] * MANY))


def size(directory: Path, rounds: int, name: str) -> tuple[dict[str, Any], list[Bar]]:
    """The three patterns with one image."""
    image = make_image(directory, *SIZES[name], 308_000)
    alone = median([run(directory, image, 1, RATE).worst() for _ in range(rounds)])
    figures: dict[str, Any] = {f"{name}, alone": {"wall": alone}}
    bars = []
    for pattern, published in PAPER[name].items():
        runs = [run(directory, image, MANY, RATE, starts=starts(pattern, alone)) for _ in range(rounds)]
        wall = median([sum(one.seconds) / MANY for one in runs])
        duplicates, requests = max(one.duplicates for one in runs), max(one.needs for one in runs)
        figures[f"{name}, {pattern}"] = {
            "wall": wall,
            "worst": median([one.worst() for one in runs]),
            "duplicates": duplicates,
            "requests": requests,
            "copies": max(one.copies for one in runs),
        }
        together = figures[f"{name}, together"]["wall"]
        row = f"{wall:6.2f} s {wall / together:5.2f}x {duplicates:6.1%} {requests:6} requests"
        first = PAPER[name]["together"].seconds
        paper = f"{published.seconds:6.1f} s {published.seconds / first:5.2f}x {published.duplicates:6.1%}"
        print(f"  {name}, {pattern:9}  {row}    paper: {paper}", flush=True)
        bars.append(Bar(f"{name}, {pattern}: duplicates", duplicates, published.duplicates))
        if pattern != "together":
            bars.append(Bar(f"{name}, {pattern}: mean by together", wall / together, 1.15))
    return figures, bars


def skew(directory: Path, rounds: int) -> Case:
    """The paper's rows."""
    figures: dict[str, Any] = {}
    bars = []
    for name in SIZES:
        found, more = size(directory, rounds, name)
        figures |= found
        bars += more
    return figures, bars
