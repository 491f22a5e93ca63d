# SPDX-License-Identifier: Apache-2.0
"""`sledc mcast-test` at a switch of namespaces: what it says of networks in which multicast works or not. Prints TAP.

Needs root and nginx. $SLEDC is the build for tests, $SLED_VECTORS the vectors.
"""

from __future__ import annotations

import re
import subprocess
import sys

from switch import GROUPS, SERVER, Switch
from test_multicast_net import DIGEST, RATE, SLEDC, rack, run_tests


def trial(switch: Switch, *, works: bool = False) -> str:
    """What node 0 says."""
    words = ["mcast-test", f"multicast={SERVER}:7001", f"digest=sha256:{DIGEST.hex()}"]
    process = switch.start("0", SLEDC, *words, stdout=subprocess.PIPE)
    out, _ = process.communicate(timeout=60)
    print("".join(f"# {line}\n" for line in out.splitlines()), end="")
    assert process.returncode == (0 if works else 6), out
    return str(out)


def filter_at(switch: Switch, port: str, rules: str) -> None:
    """Rules of nft in a namespace."""
    words = ["ip", "netns", "exec", switch.namespace(port), "nft", rules]
    subprocess.run(words, check=True, timeout=60)


def test_works() -> None:
    with rack(1) as (switch, _):
        out = trial(switch, works=True)
        rate = re.search(r"group 239\.\d+\.\d+\.\d+: (\d+) Mbit/s, \d+ packets", out)
        assert rate and 0 < int(rate[1]) <= RATE, out
        assert out.splitlines()[-1].startswith("multicast works"), out


def test_node_drops() -> None:
    with rack(1) as (switch, _):
        switch.drop("")
        out = trial(switch)
        assert "packets reach the interface, and no program" in out and "this node, and its firewall" in out, out


def test_switch_drops() -> None:
    with rack(1) as (switch, _):
        chain = "add table bridge t; add chain bridge t c { type filter hook forward priority 0; }"
        filter_at(switch, "bridge", f"{chain}; add rule bridge t c ip daddr {GROUPS} udp dport 7000 drop")
        out = trial(switch)
        assert "nothing arrives" in out and "no packet to the group arrives" in out, out


def test_nothing_listens() -> None:
    with rack(1) as (switch, server):
        server.sender.kill()
        server.sender.wait()
        assert "nothing listens on the sender's port" in trial(switch)


def test_sender_firewall() -> None:
    with rack(1) as (switch, _):
        chain = "add table ip t; add chain ip t c { type filter hook input priority 0; }"
        filter_at(switch, "server", f"{chain}; add rule ip t c udp dport 7001 drop")
        assert "no answer: a firewall drops UDP" in trial(switch)


def test_loss() -> None:
    with rack(1) as (switch, _):
        switch.drop("numgen random mod 100 < 10")
        assert "packets are lost" in trial(switch, works=True)


def test_querier() -> None:
    with rack(1) as (switch, _):
        switch.ip(["link set br0 type bridge mcast_snooping 1 mcast_querier 1"], switch.namespace("bridge"))
        assert "querier: heard" in trial(switch, works=True)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
