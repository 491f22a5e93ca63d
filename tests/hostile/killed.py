# SPDX-License-Identifier: Apache-2.0
"""Kills sledd between every two words of a machine that boots; it becomes the node without help, at each level.

usage: killed.py
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ansible_collections.sled.fleet.tests.hostile.machine import Machine, by_level
from ansible_collections.sled.fleet.tests.hostile.site import DEADLINE, SECRET, Answer, Site

LEVELS = ("expected", "proven")


def repeat(say: Callable[[], Answer]) -> Answer:
    """As a machine does: until sledd answers."""
    deadline = time.monotonic() + DEADLINE
    while (answer := say()).status >= 500:
        assert time.monotonic() < deadline, answer
        time.sleep(0.1)
    return answer


def boot(machine: Machine, kill: Callable[[], None]) -> None:
    """From hello to the seed, with a kill between every two words."""
    machine.image()
    entry = by_level(machine)
    if entry == "window":
        machine.expect()
    if entry == "ticket":
        machine.get_ticket()
    kill()
    assert repeat(lambda: machine.hello(machine.ticket)).status == 200
    codes = [claim["code"] for claim in machine.site.admission(machine.name)["claims"]]
    kill()
    machine.token = machine.claim
    assert repeat(machine.facts).status == 204
    incumbent = machine.site.admission(machine.name)["incumbent"]
    assert machine.token.startswith("sledb_") and [incumbent["code"]] == codes, incumbent
    kill()  # the response with the boot token might have been lost
    machine.token = machine.claim
    assert repeat(machine.facts).status == 204
    assert machine.token.startswith("sledb_")
    kill()  # a poll repeats it, too
    machine.token = repeat(lambda: machine.say("GET", "plan", token=machine.claim)).token
    assert machine.token.startswith("sledb_")
    kill()
    assert repeat(machine.facts).status == 204
    kill()
    assert machine.received(repeat(lambda: machine.say("GET", "plan"))).startswith("plan 1\n")
    kill()
    machine.does("wipe", "write")
    machine.report("begin step=3 of=4 verb=configure")
    kill()
    seed = repeat(lambda: machine.say("GET", "seed"))
    assert (SECRET.encode() in seed.body) == (entry == "ticket"), seed
    assert seed.status == (200 if entry == "ticket" else 409), seed


def main() -> int:
    """Boots a machine at each level."""
    for level in LEVELS:
        with tempfile.TemporaryDirectory(prefix="killed") as name:
            site, times = Site(Path(name) / "site", level), list[float]()

            def kill(site: Site = site, times: list[float] = times) -> None:
                begin = time.monotonic()
                site.kill()
                times.append(time.monotonic() - begin)

            try:
                site.begin()
                machine = Machine(site)
                with contextlib.closing(machine.links):
                    boot(machine, kill)
                kinds = [event["kind"] for event in site.events(machine.name)]
                assert kinds.count("admit") == 1 and "rival" not in kinds, kinds
            finally:
                site.end()
        print(f"{level}: sledd was killed {len(times)} times and answered within {max(times):.1f} s; admitted once")
    return 0


if __name__ == "__main__":
    sys.exit(main())
