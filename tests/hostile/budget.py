# SPDX-License-Identifier: Apache-2.0
"""What a stranger makes sledd store, for as long as it likes to send."""

from __future__ import annotations

import concurrent.futures
import contextlib

from ansible_collections.sled.fleet.tests.hostile import attacks, more
from ansible_collections.sled.fleet.tests.hostile.machine import STATES, Machine
from ansible_collections.sled.fleet.tests.hostile.site import Site
from ansible_collections.sled.fleet.tests.hostile.stranger import Stranger

# Bytes for one node: four claims, alarms of eight addresses, and 500 events.
BUDGET = 192 << 10
FLOODS = (
    more.fill_the_store,
    attacks.claim_many_times,
    attacks.inject_into_a_claim,
    more.send_what_no_grammar_allows,
    more.put_tokens_into_text,
)


def flood(victim: Machine, neighbour: Machine) -> None:
    """Sends all that might be stored."""
    for attack in FLOODS:
        with contextlib.closing(Stranger(victim, neighbour)) as stranger:
            attack(stranger)


def stored_by_strangers(site: Site, neighbour: Machine) -> int:
    """Bytes per node that a flood leaves in the store: of nodes in each state, attacked at the same time."""
    victims = [Machine(site) for _ in STATES]
    for victim, reach in zip(victims, STATES.values(), strict=True):
        reach(victim)
    before = site.stored()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda victim: flood(victim, neighbour), victims))
    return max(0, site.stored() - before) // len(victims)
