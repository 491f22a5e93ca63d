# SPDX-License-Identifier: Apache-2.0
"""`sled init`: the inventory that it makes of the example, and ports of others. tests/release runs the command."""

from __future__ import annotations

import importlib
import ipaddress
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("addresses", ["10.9.0.50-10.9.0.60", ""])
def test_inventory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, addresses: str) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "packaging/init"))
    inventory = importlib.import_module("inventory")
    values = inventory.variables(ipaddress.IPv4Interface("10.9.0.1/24"), "eno2", addresses)
    inventory.write(tmp_path / "site", ROOT / "inventory/example", values)
    read = {file.stem: yaml.safe_load(file.read_text()) for file in (tmp_path / "site").rglob("*.yml")}
    assert read["all"]["sled_server"] == "https://10.9.0.1"
    assert read["nodes"]["node_disk"] == "only"
    assert list(read["hosts"]) == ["controllers", "boot_servers", "nodes"]
    dhcp = {name: value for name, value in read["boot_servers"].items() if name.startswith("dnsmasq_")}
    network = {"name": "rack", "subnet": "10.9.0.0/24", "interface": "eno2"}
    if addresses:
        assert dhcp.pop("dnsmasq_static_leases")
        assert dhcp == {"dnsmasq_networks": [network | {"dhcp": "server", "ranges": {"boot": addresses}}]}
    else:
        assert dhcp == {"dnsmasq_networks": [network | {"dhcp": "proxy"}]}
    assert (tmp_path / "site/secrets").stat().st_mode & 0o777 == 0o700


def test_ports_of_other_interfaces_are_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "packaging/init"))
    checks = importlib.import_module("checks")
    listing = """\
udp UNCONN 0 0 0.0.0.0%virbr0:67 0.0.0.0:* users:(("dnsmasq",pid=7,fd=3))
udp UNCONN 0 0 0.0.0.0%eno2:67 0.0.0.0:* users:(("dhcpd",pid=8,fd=3))
tcp LISTEN 0 511 [::]:80 [::]:*
tcp LISTEN 0 511 *:8080 *:*"""
    assert [*checks.taken(listing, "eno2")] == [("udp", 67, "dhcpd (process 8)"), ("tcp", 80, "a program")]
