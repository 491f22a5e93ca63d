# SPDX-License-Identifier: Apache-2.0
"""How many nodes are read at once, and by which requests."""

from __future__ import annotations

from ansible_collections.sled.fleet.plugins.module_utils.client import Client
from ansible_collections.sled.fleet.plugins.module_utils.nodes import FEW, LONGEST_NAMES, PART, parts, read
from ansible_collections.sled.fleet.tests.unit.double import Sledd


def test_many_nodes_are_read_by_name_and_without_the_rest_of_the_fleet(sledd: Sledd, client: Client) -> None:
    for number in range(1, 31):
        sledd.node(f"n{number}", number)
    names = [*(f"n{number}" for number in range(1, FEW + 2)), "52-54-00-77-00-14", "n99"]
    found = read(client, names)
    assert {name: node["name"] for name, node in found.items()} == {
        **{name: name for name in names[: FEW + 1]},
        "52-54-00-77-00-14": "n20",
    }
    lists = [path for _, path, _ in sledd.asked if path.startswith("/v1/nodes?")]
    assert all("node=n1&" in path and "node=n9&" in path for path in lists)
    assert [path for _, path, _ in sledd.asked if not path.startswith("/v1/nodes?")] == ["/v1/nodes/n99"]


def test_lists_fit_into_a_request() -> None:
    names = [f"node-{number}" for number in range(450)]
    assert [len(part) for part in parts(names)] == [PART, PART, 50]
    longer = [f"{number:060}.example" for number in range(450)]
    assert [name for part in parts(longer) for name in part] == longer
    assert max(sum(map(len, part)) for part in parts(longer)) <= LONGEST_NAMES
    assert list(parts([])) == []
