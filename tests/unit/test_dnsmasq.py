# SPDX-License-Identifier: Apache-2.0
"""The templates of role dnsmasq, and the leases that inventory/example makes."""

from __future__ import annotations

import json
from pathlib import Path

import jinja2
from ansible_collections.sled.fleet.tests.unit.test_inventory import ansible

ROOT = Path(__file__).resolve().parents[2]


def test_a_lease_is_for_every_mac_of_its_node() -> None:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ROOT / "roles/dnsmasq/templates"),
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["comment"] = lambda text: f"# {text}"
    leases = [
        {"mac": "52:54:00:77:00:01", "address": "10.20.0.101"},
        {"mac": "52:54:00:77:00:02", "macs": ["52:54:00:77:01:02"], "address": "10.20.0.102", "name": "n2"},
    ]
    template = environment.get_template("etc/dnsmasq.hosts.d/static.j2")
    text = template.render(ansible_managed="test", dnsmasq_static_leases=leases)
    assert text.splitlines()[1:] == [
        "52:54:00:77:00:01,10.20.0.101",
        "52:54:00:77:00:02,52:54:00:77:01:02,10.20.0.102,n2",
    ]


def test_the_example_leases_every_mac(tmp_path: Path) -> None:
    wanted = [
        "dnsmasq_static_leases[0].macs == ['3c:ec:ef:10:01:01']",
        "dnsmasq_static_leases[1] == {'mac': '3c:ec:ef:10:00:02', 'macs': [], 'address': '10.20.0.102'}",
        "dnsmasq_static_leases | length == groups['nodes'] | length",
    ]
    # The play's host is that of the example, and no connection is made.
    play = {"hosts": "boot_servers", "gather_facts": False, "tasks": [{"assert": {"that": wanted}}]}
    (tmp_path / "play.json").write_text(json.dumps([play]), encoding="utf-8")
    (tmp_path / "more.yml").write_text("nodes: {hosts: {n1: {node_macs: ['3c:ec:ef:10:01:01']}}}", encoding="utf-8")
    ran = ansible("playbook", tmp_path, "-i", str(ROOT / "inventory/example/hosts.yml"), "-i", "more.yml", "play.json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
