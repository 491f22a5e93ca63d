# SPDX-License-Identifier: Apache-2.0
"""The networks of a site: what a boot server does in each, and a message for everything that cannot work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.plugin_utils.networks import resolve
from ansible_collections.sled.fleet.tests.unit.test_inventory import ansible

RANGE = "10.20.0.50-10.20.0.99"
RACK = {"name": "rack", "subnet": "10.20.0.0/24", "interface": "eno2", "dhcp": "server", "ranges": {"boot": RANGE}}
BEHIND = {"name": "behind", "subnet": "10.21.0.0/24", "relayed": True, "dhcp": "server", "router": "10.21.0.254"}
BESIDE = {"name": "beside", "subnet": "10.22.0.0/24", "interface": "eno3", "address": "10.22.0.1", "dhcp": "proxy"}


def test_each_boot_server_has_its_range_and_address() -> None:
    rack = RACK | {"ranges": {"boot": RANGE, "boot2": "10.20.0.100-10.20.0.149"}}
    networks: list[dict[str, Any]] = [rack, BEHIND, BESIDE]
    one, two = (
        resolve(networks, name, address, ["boot", "boot2"])
        for name, address in (("boot", "10.20.0.1"), ("boot2", "10.20.0.2"))
    )
    assert [network["range"] for network in one] == ["10.20.0.50,10.20.0.99", "", ""]
    assert [network["range"] for network in two] == ["10.20.0.100,10.20.0.149", "", ""]
    assert [network["address"] for network in two] == ["10.20.0.2", "10.20.0.2", "10.22.0.1"]
    assert [network["shared"] for network in one] == [True, False, False]
    # Only a server on the link itself can advertise there.
    assert [network["ra_address"] for network in one] == ["fd73:6c65:6400:0::1/64", "", ""]


@pytest.mark.parametrize(
    ("networks", "message"),
    [
        ([], "dnsmasq_networks is empty"),
        ([RACK | {"routers": ["10.20.0.254"]}], "rack: there is no key routers: want name, subnet"),
        ([RACK | {"name": "Rack A"}], "name 'Rack A': want lower case letters"),
        ([RACK | {"subnet": "10.20.0.1/24"}], "subnet '10.20.0.1/24': want an IPv4 network such as 10.20.0.0/24"),
        ([RACK | {"dhcp": "dhcp"}], "dhcp 'dhcp': want server, proxy or foreign"),
        ([RACK | {"relayed": True}], "want either interface"),
        ([RACK | {"interface": ""}], "want either interface"),
        ([RACK | {"address": "10.9.0.1"}], "address 10.9.0.1 is not in 10.20.0.0/24"),
        ([BEHIND | {"address": "10.21.0.1"}], "machines behind a router reach the boot server at 10.20.0.1"),
        ([RACK | {"interface": "", "relayed": True}], "10.20.0.1 is in 10.20.0.0/24, so its machines need no relay"),
        ([RACK | {"dhcp": "proxy"}], "ranges has no effect with dhcp: proxy"),
        ([RACK | {"router": "10.21.0.254"}], "router 10.21.0.254 is not in 10.20.0.0/24"),
        ([BEHIND | {"router": ""}], "router is missing, and machines reach the boot server's address 10.20.0.1"),
        ([BESIDE | {"dhcp": "server"}], "through it alone; 10.22.0.1 will do"),
        ([RACK | {"dns": ["ns.example.org"]}], "dns ns.example.org: want IPv4 addresses"),
        ([RACK | {"mtu": 90000}], "mtu 90000: want 576 to 9216"),
        ([RACK | {"mtu": "jumbo"}], "mtu jumbo: want 576 to 9216"),
        ([RACK | {"dns": "10.20.0.253"}], "dns '10.20.0.253': want a list of IPv4 addresses"),
        ([RACK | {"ranges": RANGE}], "want FIRST-LAST by boot server"),
        ([RACK | {"ra_address": "fd00::1"}], "ra_address fd00::1: want an IPv6 address with its prefix length"),
        (["rack"], "entry 1: 'rack': want a network, such as {name: rack"),
        ([RACK | {"ranges": {"boot": "10.20.0.50"}}], "ranges: boot: 10.20.0.50: want FIRST-LAST"),
        ([RACK | {"ranges": {"boot": "10.20.0.50-10.20.1.9"}}], "boot: 10.20.1.9 is no address of a machine in"),
        ([RACK | {"ranges": {"boot": "10.20.0.99-10.20.0.50"}}], "boot: 10.20.0.99 is above 10.20.0.50"),
        ([RACK | {"ranges": {"boot": "10.20.0.1-10.20.0.9"}}], "boot: 10.20.0.1 is that of the boot server"),
        ([RACK | {"router": "10.20.0.60"}], "boot: 10.20.0.60 is that of the router"),
        (
            [RACK | {"ranges": {"boot": RANGE, "boot2": "10.20.0.99-10.20.0.120"}}],
            "ranges: boot and boot2 both hand out 10.20.0.99",
        ),
        ([RACK | {"ranges": {"boot3": RANGE}}], "ranges: boot3 is no boot server of the inventory: want boot, boot2"),
        ([RACK, BEHIND | {"name": "rack"}], "two networks have one name"),
        ([RACK, BEHIND | {"subnet": "10.20.0.0/15", "relayed": False, "interface": "eno3"}], "overlap"),
        ([RACK, BESIDE | {"interface": "eno2"}], "both are on eno2"),
        ([BESIDE], "dnsmasq_static_leases: 10.20.0.101 is in no network with dhcp: server (none)"),
    ],
)
def test_what_cannot_work_is_refused(networks: list[Any], message: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        resolve(networks, "boot", "10.20.0.1", ["boot", "boot2"], [{"address": "10.20.0.101"}])
    assert message in str(refused.value)


def test_old_variables_are_refused_with_the_new_words(tmp_path: Path) -> None:
    role = {"include_role": {"name": "sled.fleet.dnsmasq", "tasks_from": "networks"}}
    given = {"sled_interface": "eno2", "dnsmasq_mode": "proxy", "dnsmasq_address": "10.20.0.1"}
    play = {"hosts": "localhost", "gather_facts": False, "connection": "local", "vars": given, "tasks": [role]}
    (tmp_path / "play.json").write_text(json.dumps([play]), encoding="utf-8")
    ran = ansible("playbook", tmp_path, "-i", "localhost,", "play.json")
    assert ran.returncode == 2
    assert "dnsmasq_mode is now dhcp, sled_interface is now interface" in ran.stdout.replace("\n", " ")


def test_the_inventories_of_this_tree_have_networks_that_work(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    role = {"include_role": {"name": "sled.fleet.dnsmasq", "tasks_from": "networks"}}
    address = {"dnsmasq_address": "{{ sled_address }}"}
    play = {"hosts": "boot_servers", "gather_facts": False, "vars": address, "tasks": [role]}
    (tmp_path / "play.json").write_text(json.dumps([play]), encoding="utf-8")
    for place in ("inventory/example/hosts.yml", "examples/rack/hosts.yml"):
        ran = ansible("playbook", tmp_path, "-i", str(root / place), "play.json")
        assert ran.returncode == 0, ran.stdout + ran.stderr
