# SPDX-License-Identifier: Apache-2.0
"""The inventory of a site with one boot server, this machine: the example of the collection with its values."""

from __future__ import annotations

import ipaddress
import re
import shutil
import socket
from pathlib import Path

HOSTS = """\
# SPDX-License-Identifier: Apache-2.0
# What stands here and in group_vars is applied by: sled site. inventory/example of the collection shows more.
controllers:
  hosts:
    localhost:

boot_servers:
  hosts:
    boot:
      ansible_connection: local
      ansible_python_interpreter: /usr/bin/python3

# Machines, which `sled enroll` declares; or declare them with sledctl or Terraform.
nodes:
  hosts: {}
  #  n1:
  #    ansible_host: 10.20.0.101 # address of the installed system
  #    node_mac: "3c:ec:ef:10:00:01" # MAC of the interface that boots
  #    power_address: 10.30.0.101 # address of its BMC
"""


def put(text: str, **values: str) -> str:
    """Sets variables, which the example has once each."""
    for name, value in values.items():
        text, found = re.subn(rf"^{name}:.*\n(?:  .*\n)*", f"{name}: {value}\n" if value else "", text, flags=re.M)
        if found != 1:
            raise ValueError(f"inventory/example has {name} {found} times")
    return text


def variables(address: ipaddress.IPv4Interface, interface: str, addresses: str) -> dict[str, dict[str, str]]:
    """What differs from the example, by its files in group_vars. An empty value removes the variable."""
    here = str(address.ip)
    network = f"name: rack, subnet: {address.network}, interface: {interface}"
    dnsmasq = {"dnsmasq_networks": f"[{{{network}, dhcp: proxy}}]", "dnsmasq_static_leases": ""}
    if addresses:
        dnsmasq = {"dnsmasq_networks": f"[{{{network}, dhcp: server, ranges: {{boot: {addresses}}}}}]"}
    return {
        "all.yml": {
            "sled_address": here,
            "sled_server": f"https://{here}",
            "sled_names": f"[{socket.gethostname()}]",
        },
        "boot_servers.yml": {"ansible_user": "root", **dnsmasq},
        "controllers.yml": {},
        "nodes.yml": {"node_disk": "only"},
    }


def write(to: Path, example: Path, values: dict[str, dict[str, str]]) -> None:
    """Writes the folder, whole or not at all."""
    part = to.with_name(f".{to.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    (part / "group_vars").mkdir(parents=True)
    (part / "secrets").mkdir(mode=0o700)
    shutil.copyfile(example / "ansible.cfg", part / "ansible.cfg")
    (part / "hosts.yml").write_text(HOSTS)
    for name, own in values.items():
        text = (example / "group_vars" / name).read_text()
        (part / "group_vars" / name).write_text(put(text, **own))
    part.rename(to)
