# SPDX-License-Identifier: Apache-2.0
"""The packet filter of role nginx: what it limits, for whom, and that it touches no other rule."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.sled.fleet.tests.unit.front import render

NFT = shutil.which("nft", path="/usr/sbin:/usr/bin")
SITE = """table inet filter {
    chain input {
        type filter hook input priority filter; policy drop;
        tcp dport 22 accept
    }
}"""


def load(*texts: str) -> str:
    """Loads rules one after the other in a network of their own; returns all rules that are there then."""
    if NFT is None:
        pytest.skip("nft is not installed")
    command = ["unshare", "--user", "--map-root-user", "--net", "sh", "-euc"]
    script = 'for text; do printf "%s\\n" "$text" | nft -f -; done; nft list ruleset'
    done = subprocess.run([*command, script, "load", *texts], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode and "Operation not permitted" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rules(**changes: Any) -> str:
    return render("etc/sled/connections.nft.j2", Path("/srv/sled"), (80, 443), **changes)


def test_it_is_loaded_twice_beside_the_rules_of_the_site() -> None:
    alone, found = load(SITE), load(SITE, rules(), rules())
    assert alone in found
    assert found.count("ct count over 256") == 2 and "tcp dport != { 80, 443 } return" in found


def test_an_operators_port_counts_too() -> None:
    assert "tcp dport != { 80, 443, 8443 } return" in load(rules(nginx_operator_port=8443))


def test_relays_and_exempt_networks_of_both_kinds_have_no_limit() -> None:
    exempt = {"nginx_relays": ["10.20.0.9"], "nginx_rate_exempt": ["10.20.0.0/24", "fd00::/64"]}
    found = load(rules(**exempt, nginx_operator_networks=["10.10.0.0/16"], nginx_connections_of_address=7))
    assert "elements = { 10.10.0.0/16, 10.20.0.0/24 }" in found and "elements = { fd00::/64 }" in found
    assert found.count("ct count over 7") == 2
