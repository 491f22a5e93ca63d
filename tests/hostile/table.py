# SPDX-License-Identifier: Apache-2.0
"""Runs every attack at each level of admission against a node in each state; makes the table of docs/security.md.

usage: table.py PAGE [--write]

Exits with 1 if the table differs from that of the page, or if a stranger gets something at level proven.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import inspect
import string
import sys
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path

from ansible_collections.sled.fleet.tests.hostile import (
    claims,
    connections,  # noqa: F401 adds its attacks
    memory,
    old_system,
)
from ansible_collections.sled.fleet.tests.hostile.attacks import ATTACKS, ON_SERVERS, Attack
from ansible_collections.sled.fleet.tests.hostile.budget import BUDGET, stored_by_strangers
from ansible_collections.sled.fleet.tests.hostile.machine import STATES, Machine
from ansible_collections.sled.fleet.tests.hostile.operators import ACTS, run_operators
from ansible_collections.sled.fleet.tests.hostile.review import elsewhere, missing
from ansible_collections.sled.fleet.tests.hostile.site import Site
from ansible_collections.sled.fleet.tests.hostile.stranger import ALARM, GAINS, NOTHING, Stranger, gain

LEVELS = ("open", "expected", "proven")
START, END = "<!-- made by tests/hostile -->\n", "<!-- end -->\n"
Gains = dict[str, str]  # by state


def run(site: Site, neighbour: Machine, attack: Attack) -> Gains:
    """One attack on a new node in each state that makes a difference to it."""
    gains: Gains = {}
    states = {"writing": STATES["writing"]} if attack in ON_SERVERS else STATES
    for state, reach in states.items():
        victim = Machine(site)
        reach(victim)
        stranger = Stranger(victim, neighbour)
        try:
            with contextlib.closing(victim.links), contextlib.closing(stranger):
                attack(stranger)
                gains[state] = gain(stranger)
        except Exception as error:
            raise RuntimeError(f"{site.level}, {state}, {attack.__name__}") from error
    return gains


def run_all(level: str, folder: Path) -> tuple[list[Gains], int, list[str]]:
    """All attacks at one level, the bytes per node that strangers make it store, and the files that hold a token."""
    site = Site(folder / level, level)
    try:
        site.begin()
        neighbour = Machine(site)
        STATES["idle"](neighbour)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            gains = list(pool.map(lambda attack: run(site, neighbour, attack), ATTACKS))
        stored = stored_by_strangers(site, neighbour)
    finally:
        site.end()
    return gains, stored, site.left()


def run_apart(folder: Path) -> list[str]:
    """What operators get, at a site of their own."""
    site = Site(folder / "operators", "expected")
    try:
        site.begin()
        return run_operators(site)
    finally:
        site.end()


def cell(gains: Gains) -> str:
    """The most that is got, and in which states, unless it is the same in all."""
    most = max(gains.values(), key=GAINS.index)
    states = [state for state, found in gains.items() if found == most]
    return most if len(states) == len(gains) or most == NOTHING else f"{most}: {', '.join(states)}"


def rows(lines: list[list[str]]) -> str:
    """A table. The first line is its head."""
    head, *rest = (f"| {' | '.join(line)} |\n" for line in lines)
    return head + "|---" * len(lines[0]) + "|\n" + "".join(rest)


def sentence(what: Callable[..., object]) -> str:
    """The first sentence of a description, as a part of another."""
    text = " ".join((inspect.getdoc(what) or "").split()).partition(". ")[0].rstrip(".")
    return text[0].lower() + text[1:]


def by_state(results: dict[str, list[Gains]]) -> str:
    """What the best of all attacks gets, for a node in each state."""
    lines = [["state", "the node", *LEVELS]]
    for state, reach in STATES.items():
        best = [max((g[state] for g in results[level] if state in g), key=GAINS.index) for level in LEVELS]
        lines.append([state, sentence(reach), *best])
    return "What the best of all attacks gets:\n\n" + rows(lines)


def by_attack(results: dict[str, list[Gains]]) -> str:
    """The attacks, those that get the same together; what gets most comes first."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for number, attack in enumerate(ATTACKS):
        same = groups.setdefault(tuple(cell(results[level][number]) for level in LEVELS), [])
        same.append(textwrap.fill(f"- {sentence(attack)}", 100, subsequent_indent="  ") + "\n")

    def worth(got: tuple[str, ...]) -> tuple[int, ...]:
        return tuple(-GAINS.index(text.partition(":")[0]) for text in got)

    ordered = sorted(groups, key=worth)
    names = dict(zip(ordered, string.ascii_uppercase, strict=False))
    table = rows([["group", *LEVELS, "attacks"], *([names[g], *g, str(len(groups[g]))] for g in ordered)])
    lists = "".join(f"\n**{names[got]}.** A stranger\n\n{''.join(groups[got])}" for got in ordered)
    return f"What each attack gets:\n\n{table}{lists}"


def by_binding(results: dict[str, memory.Gains]) -> str:
    """What the best attack gets of nodes that run from memory, by kind and moment."""
    tried = "; ".join(sentence(attack) for attack in memory.ATTACKS)
    text = textwrap.fill(
        f"Of a node that runs its image from memory, the best of these gets what the table shows. A stranger {tried}.",
        100,
    )
    lines = [["the node is bound to, and attacked", *LEVELS]]
    lines += [[", ".join(key), *(results[level][key] for level in LEVELS)] for key in results[LEVELS[0]]]
    return f"{text}\n\n{rows(lines)}\n"


def by_operator(results: list[str]) -> str:
    """What an operator gets of the others, and after its end."""
    lines = [["an operator", "result"], *([sentence(act), found] for act, found in zip(ACTS, results, strict=True))]
    return f"What operators get of each other:\n\n{rows(lines)}\n"


def tables(results: dict[str, list[Gains]]) -> str:
    """What the page has of the results."""
    return f"\n{by_state(results)}\n{by_attack(results)}\n"


def too_much(results: dict[str, list[Gains]]) -> list[str]:
    """What strangers get at level proven."""
    return [
        f"at level proven: {attack.__name__}: {state}: {found}"
        for attack, gains in zip(ATTACKS, results["proven"], strict=True)
        for state, found in gains.items()
        if found not in (NOTHING, ALARM)
    ]


def compare(page: Path, made: str, found: list[str]) -> int:
    """Writes the tables into the page, or compares them with those that it has, and prints what a stranger found."""
    before, _, rest = page.read_text().partition(START)
    old, _, after = rest.partition(END)
    if "--write" in sys.argv:
        page.write_text(before + START + made + END + after)
        return 0
    for line in found:
        print(line, file=sys.stderr)
    if old != made:
        print(
            f"{page} has another table; if this one is right: tests/hostile/run table.py PAGE --write", file=sys.stderr
        )
    return 1 if found or old != made else 0


def main() -> int:
    """Runs all, compares or writes."""
    page = Path(sys.argv[1])
    ram = Path("/dev/shm")  # nothing here outlives the run, and a disk would only be waited for
    with (
        tempfile.TemporaryDirectory(prefix="hostile", dir=ram if ram.is_dir() else None) as name,
        concurrent.futures.ProcessPoolExecutor(len(LEVELS) + 1) as pool,
    ):
        starts = {level: pool.submit(memory.run, level, Path(name)) for level in ("expected", "proven", "open")}
        runs = {level: pool.submit(run_all, level, Path(name)) for level in LEVELS}
        operators = pool.submit(run_apart, Path(name))
        floods = {level: pool.submit(claims.run, level, Path(name)) for level in claims.LEVELS}
        thefts = {level: pool.submit(old_system.run, level, Path(name)) for level in LEVELS}
        results = {level: run.result()[0] for level, run in runs.items()}
        stored = {level: run.result()[1] for level, run in runs.items()}
        started = {level: starts[level].result()[0] for level in LEVELS}
        apart = operators.result()
        flooded = {level: run.result() for level, run in floods.items()}
        stolen = {level: run.result() for level, run in thefts.items()}
    made = (
        tables(results)
        + by_binding(started)
        + old_system.table(stolen)
        + claims.table(flooded)
        + by_operator(apart)
        + elsewhere()
    )
    print(made)
    for level, size in stored.items():
        print(f"stored by strangers at level {level}: {size} bytes per node, the budget is {BUDGET}")
    found = [
        *too_much(results),
        *memory.broken(started),
        *old_system.broken(stolen),
        *claims.broken(flooded),
        *(
            f"{level}: a token is in {file}"
            for done in (runs, starts)
            for level, run in done.items()
            for file in run.result()[-1]
        ),
        *(f"{test} does not exist" for test in missing()),
    ]
    if stored["proven"] > BUDGET:
        found.append(f"strangers store {stored['proven']} bytes per node, the budget is {BUDGET}")
    return compare(page, made, found)


if __name__ == "__main__":
    sys.exit(main())
