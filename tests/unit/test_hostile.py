# SPDX-License-Identifier: Apache-2.0
"""Text of malicious nodes through the inventory plugin, modules and playbooks: nothing of it is ever evaluated."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.hostvars import unicast
from ansible_collections.sled.fleet.tests.unit.double import TOKEN, Sledd
from ansible_collections.sled.fleet.tests.unit.hostile import ADDRESS, FILE, claims, fill, vectors
from ansible_collections.sled.fleet.tests.unit.test_inventory import ansible, plain

SETTINGS = """
plugin: sled.fleet.sledd
server: {url}
token_file: token
facts: true
compose:
  composed: sled_reason
  joined: "'reason ' ~ sled_os.version"
  nested: sled_facts.dmi
keyed_groups:
  - {{key: sled_os.id, prefix: os}}
  - {{key: sled_facts.dmi.vendor, prefix: vendor}}
groups:
  failed: sled_reason != sled_os.id
"""


def rack(sledd: Sledd, folder: Path, vectors_per_node: int = 1) -> dict[str, list[str]]:
    """Makes nodes of all vectors, and their inventory in the folder. Returns the values of each node."""
    every = list(vectors().values())
    assert len(every) > 60
    parts = [every[at : at + vectors_per_node] for at in range(0, len(every), vectors_per_node)]
    values = {f"v{i}": [text for texts in part for text in texts] for i, part in enumerate(parts)}
    for i, (name, found) in enumerate(values.items()):
        fill(sledd.node(name, i), found)
    (folder / "token").write_text(TOKEN)
    (folder / "site.sledd.yml").write_text(SETTINGS.format(url=sledd.url))
    return values


def commands_run(folder: Path) -> list[Path]:
    return list(folder.rglob(FILE + "*"))


def test_inventory_evaluates_nothing(sledd: Sledd, tmp_path: Path) -> None:
    values = rack(sledd, tmp_path)
    ran = ansible("inventory", tmp_path, "-i", "site.sledd.yml", "--list")
    assert ran.returncode == 0, ran.stderr
    found: Json = json.loads(ran.stdout, object_hook=plain)
    hosts = found["_meta"]["hostvars"]
    assert set(hosts) == set(values)
    for node in sledd.objects["nodes"].values():
        host = hosts[node["name"]]
        reason = node["status"]["reason"]
        assert (host["sled_reason"], host["composed"]) == (reason, reason)
        assert host["joined"] == "reason " + node["status"]["os"]["version"]
        assert host["sled_facts"] == node["facts"]
        assert host["nested"] == node["facts"]["dmi"]
    wrong = {host: v["ansible_host"] for host, v in hosts.items() if v.get("ansible_host") not in (None, ADDRESS)}
    assert not wrong
    assert any(v.get("ansible_host") == ADDRESS for v in hosts.values())
    named = {group for group in found if group != "_meta"}
    assert not [group for group in named if set(group) & set("{}%$`|;&'\"<>() \n\x1b\u202e")]
    assert not commands_run(tmp_path)


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_playbook_evaluates_nothing(sledd: Sledd, tmp_path: Path) -> None:
    """Variables, magic variables, registered results and copies of them hold the text itself."""
    values = rack(sledd, tmp_path, vectors_per_node=5)
    nodes = sledd.objects["nodes"].values()
    sledd.log = "\n".join(text for texts in values.values() for text in texts)
    wanted = {node["name"]: b64(node["status"]["reason"]) for node in nodes}
    failure = "write: code 5 integrity: "
    reasons = {node["name"]: b64((failure + node["status"]["reason"]).removesuffix(": ")) for node in nodes}
    first = sorted(values)[0]
    tasks: list[Json] = [
        {"set_fact": {"copied": "{{ sled_facts }}", "copy": "{{ sled_reason }}"}},
        {"debug": {"msg": "{{ hostvars[inventory_hostname] }} {{ copied }} {{ group_names }} {{ groups }}"}},
        {"debug": {"msg": "{{ sled_reason }} {{ nested.vendor }} {{ joined }} {{ copied.dmi.vendor }}"}},
        {"assert": {"that": ["copy | b64encode == wanted[inventory_hostname]",
                             "sled_reason | b64encode == wanted[inventory_hostname]"]}},
        {"sled.fleet.supervise": {"nodes": sorted(values), "entry_methods": []}, "register": "wave", "run_once": True,
         "failed_when": False},
        {"set_fact": {"reason": "{{ wave.nodes[inventory_hostname].reason }}"}},
        {"debug": {"msg": "{{ reason }} {{ wave.nodes.values() | map(attribute='reason') | join(' ') }} {{ wave }}"}},
        {"assert": {"that": "reason | b64encode == reasons[inventory_hostname]"}, "when": "token not in sled_reason"},
        {"sled.fleet.node": {"name": first, "disk": "only"}, "register": "node", "run_once": True},
        {"debug": {"msg": "{{ node }} {{ node.node.status.reason }} {{ node.node.facts }}"}, "run_once": True},
    ]  # fmt: skip
    play: Json = {
        "hosts": "all", "gather_facts": False, "connection": "local", "tasks": tasks,
        "vars": {"wanted": wanted, "reasons": reasons, "token": TOKEN,
                 "ansible_python_interpreter": "{{ ansible_playbook_python }}"},
        "module_defaults": {"group/sled.fleet.api": {"server": sledd.url, "token": TOKEN}},
    }  # fmt: skip
    (tmp_path / "play.json").write_text(json.dumps([play]))
    ran = ansible("playbook", tmp_path, "-i", "site.sledd.yml", "play.json")
    assert ran.returncode == 0, "\n".join(re.findall("^fatal.*", ran.stdout, re.MULTILINE)[:2]) + ran.stderr
    assert not commands_run(tmp_path)


KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"


@pytest.mark.parametrize("book", ["status", "admit", "rescue"])
def test_playbooks_of_the_collection_evaluate_nothing(book: str, sledd: Sledd, tmp_path: Path) -> None:
    values = rack(sledd, tmp_path, vectors_per_node=5)
    for node in sledd.objects["nodes"].values():
        sledd.admissions[node["mac"]] = claims(node, values[node["name"]])
        node["rescue"] |= {"authorized_keys": [KEY], "entered": "2026-11-21T23:00:00Z", "reason": ""}
    site = (tmp_path / "site.sledd.yml").read_text() + "  nodes: true\n"
    (tmp_path / "site.sledd.yml").write_text(site.replace("compose:", "compose:\n  node_mac: sled_mac"))
    extra = {"sled_server": sledd.url, "sled_token_file": str(tmp_path / "token"), "sled_ca_file": None,
             "sled_authorized_keys": [KEY], "ansible_connection": "local",
             "ansible_python_interpreter": "{{ ansible_playbook_python }}"}  # fmt: skip
    ran = ansible("playbook", tmp_path, "-i", "site.sledd.yml", "-e", json.dumps(extra), f"sled.fleet.{book}")
    assert ran.returncode == 0, "\n".join(re.findall("^fatal.*", ran.stdout, re.MULTILINE)[:2]) + ran.stderr
    shown = re.findall(r'"msg": ', ran.stdout)
    assert len(shown) == len(values), ran.stdout[-2000:]
    assert not commands_run(tmp_path)


@pytest.mark.parametrize("name", [name for name in vectors() if name.startswith("facts_address")])
def test_addresses_that_are_none(name: str) -> None:
    for text in vectors()[name]:
        assert not unicast(text)


@pytest.mark.parametrize(
    ("text", "address"),
    [("10.77.0.51", "10.77.0.51"), ("2001:DB8::1", "2001:db8::1"), ("10.77.0.51/24", ""), ("::1", ""),
     ("169.254.0.1", ""), ("fe80::1", ""),
     ("0.1.2.3", ""), ("240.0.0.1", ""), ("ff02::1", ""), ("::ffff:10.0.0.1", ""), ("", ""), (7, ""), (None, "")],
)  # fmt: skip
def test_addresses(text: Any, address: str) -> None:
    assert unicast(text) == address


def test_vectors_hold_what_their_names_say() -> None:
    assert all(vectors().values())
    assert f"touch {FILE}" in vectors()["reason_jinja"][0]
