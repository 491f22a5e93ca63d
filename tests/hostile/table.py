# SPDX-License-Identifier: Apache-2.0
"""Runs every attack at each level of admission against a node in each state; makes the table of docs/security.md.

usage: table.py PAGE [--write]

Exits with 1 if the table differs from that of the page, or if a stranger gets something at level proven.
"""

from __future__ import annotations

import concurrent.futures
import inspect
import sys
import tempfile
from pathlib import Path

from ansible_collections.sled.fleet.tests.hostile.attacks import ATTACKS, Attack
from ansible_collections.sled.fleet.tests.hostile.machine import STATES, Machine
from ansible_collections.sled.fleet.tests.hostile.site import Site
from ansible_collections.sled.fleet.tests.hostile.stranger import ALARM, GAINS, NOTHING, Stranger, gain

LEVELS = ("open", "expected", "proven")
START, END = "<!-- made by tests/hostile -->\n", "<!-- end -->\n"
Gains = dict[str, str]  # by state


def run(site: Site, neighbour: Machine, attack: Attack) -> Gains:
    """One attack on a new node in each state."""
    gains: Gains = {}
    for state, reach in STATES.items():
        victim = Machine(site)
        reach(victim)
        stranger = Stranger(victim, neighbour)
        try:
            attack(stranger)
            gains[state] = gain(stranger)
        except Exception as error:
            raise RuntimeError(f"{site.level}, {state}, {attack.__name__}") from error
    return gains


def run_all(level: str, folder: Path) -> list[Gains]:
    """All attacks at one level."""
    site = Site(folder / level, level)
    try:
        site.begin()
        neighbour = Machine(site)
        STATES["idle"](neighbour)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return list(pool.map(lambda attack: run(site, neighbour, attack), ATTACKS))
    finally:
        site.end()


def cell(gains: Gains) -> str:
    """The most that is got, and in which states, unless it is the same in all."""
    most = max(gains.values(), key=GAINS.index)
    states = [state for state, found in gains.items() if found == most]
    return most if len(states) == len(gains) or most == NOTHING else f"{most}: {', '.join(states)}"


def table(results: dict[str, list[Gains]]) -> str:
    """The table, a row for each attack."""
    rows = [["a stranger", *LEVELS]]
    for number, attack in enumerate(ATTACKS):
        sentence = (inspect.getdoc(attack) or "").partition(".\n")[0].rstrip(".")
        rows.append([sentence[0].lower() + sentence[1:], *(cell(results[level][number]) for level in LEVELS)])
    head, *lines = (f"| {' | '.join(row)} |\n" for row in rows)
    return "\n" + head + "|---" * len(rows[0]) + "|\n" + "".join(lines) + "\n"


def main() -> int:
    """Runs all, compares or writes."""
    page = Path(sys.argv[1])
    with (
        tempfile.TemporaryDirectory(prefix="hostile") as name,
        concurrent.futures.ThreadPoolExecutor(len(LEVELS)) as pool,
    ):
        runs = {level: pool.submit(run_all, level, Path(name)) for level in LEVELS}
        results = {level: run.result() for level, run in runs.items()}
    made = table(results)
    print(made)
    before, _, rest = page.read_text().partition(START)
    old, _, after = rest.partition(END)
    if "--write" in sys.argv:
        page.write_text(before + START + made + END + after)
        return 0
    broken = [
        f"{attack.__name__}: {state}: {found}"
        for attack, gains in zip(ATTACKS, results["proven"], strict=True)
        for state, found in gains.items()
        if found not in (NOTHING, ALARM)
    ]
    for line in broken:
        print(f"at level proven: {line}", file=sys.stderr)
    if old != made:
        print(f"{page}: another table; if it is right, write it: tests/hostile/run PAGE --write", file=sys.stderr)
    return 1 if broken or old != made else 0


if __name__ == "__main__":
    sys.exit(main())
