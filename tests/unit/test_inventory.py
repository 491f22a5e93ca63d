# SPDX-License-Identifier: Apache-2.0
"""The inventory plugin and one module, run by Ansible itself."""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.hostvars import (
    host_key,
    inventory_name,
    ssh_arguments,
    variables,
)
from ansible_collections.sled.fleet.tests.unit.double import TOKEN, Sledd

COLLECTIONS = Path(__file__).parents[2] / "build/collections"


def ansible(tool: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
        "ANSIBLE_INVENTORY_UNPARSED_FAILED": "true",
        "ANSIBLE_LOCALHOST_WARNING": "false",
    }
    command = [sys.executable, "-m", "ansible", tool, *arguments]
    return subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )


def inventory(sledd: Sledd, folder: Path, more: str = "") -> subprocess.CompletedProcess[str]:
    (folder / "secrets").mkdir(exist_ok=True)
    (folder / "secrets/token").write_text(TOKEN)
    file = folder / "site.sledd.yml"
    file.write_text(f"plugin: sled.fleet.sledd\nserver: {sledd.url}\ntoken_file: secrets/token\n{more}")
    return ansible("inventory", folder, "-i", str(file), "--list")


def listed(sledd: Sledd, folder: Path, more: str = "") -> Json:
    ran = inventory(sledd, folder, more)
    assert ran.returncode == 0, ran.stderr
    result: Json = json.loads(ran.stdout, object_hook=plain)
    return result


def plain(found: Json) -> Any:
    """Takes off the mark that Ansible puts on text it must not template."""
    return found.get("__ansible_unsafe", found)


@pytest.fixture
def rack(sledd: Sledd) -> Sledd:
    first = sledd.node("n1", 1, phase="operational", generation=2, image="v1", address="10.77.0.51")
    first |= {
        "labels": {"rack": "a"},
        "macs": ["52:54:00:77:00:11"],
        "bmc": {"driver": "ipmi", "address": "10.77.0.201"},
    }
    first["binding"] = {"generation": 2, "image": "v1", "satisfied": True, "owner": "terraform:rack-a"}
    first["facts"] = {
        "nics": [{"mac": "other", "address": "10.0.0.1"}, {"mac": first["mac"], "address": "10.77.0.66/24"}]
    }
    sledd.node("n2", 2)["facts"] = {"nics": [{"mac": "52:54:00:77:00:02", "address": "10.77.0.66/24"}]}
    sledd.node("", 3, phase="discovered")["declared"] = False
    return sledd


def test_groups_and_variables(rack: Sledd, tmp_path: Path) -> None:
    more = (
        "facts: true\ncompose:\n  power: sled_bmc.driver | default('none')\n"
        "keyed_groups:\n  - {key: power, prefix: bmc}\n"
    )
    found = listed(rack, tmp_path, more)
    names = found["_meta"]["hostvars"]
    assert set(names) == {"n1", "n2"}
    assert names["n1"]["sled_labels"] == {"rack": "a"}
    assert (names["n1"]["sled_macs"], names["n2"]["sled_macs"]) == (["52:54:00:77:00:11"], [])
    assert names["n1"]["ansible_host"] == "10.77.0.51"
    assert "ansible_host" not in names["n2"], "any machine may report any address"
    assert names["n1"]["power"] == "ipmi"
    assert (names["n1"]["sled_owner"], names["n2"]["sled_owner"]) == ("terraform:rack-a", "")
    for group in ("phase_operational", "image_v1", "label_rack_a", "bmc_ipmi"):
        assert found[group]["hosts"] == ["n1"], group


@pytest.mark.parametrize(
    "case",
    [
        (
            "n9",
            "boot_servers",
            "{key: sled_labels.rack, prefix: '', separator: ''}",
            "group boot_servers: nodes of sledd",
        ),
        ("n9", "servers", "{key: sled_labels.rack, prefix: boot}", "group boot_servers: nodes of sledd"),
        ("boot", "a", "{key: sled_labels.rack, prefix: rack}", "node boot: boot_servers has this name"),
        ("localhost", "a", "{key: sled_labels.rack, prefix: rack}", "node localhost: the controller has this name"),
    ],
)
def test_no_operator_of_sledd_makes_a_node_a_boot_server(
    sledd: Sledd, tmp_path: Path, case: tuple[str, str, str, str]
) -> None:
    """site.yml copies secrets of the site to the hosts of boot_servers."""
    name, rack, key, words = case
    sledd.node(name, 1, address="10.77.0.51")["labels"] = {"rack": rack}
    (tmp_path / "hosts.yml").write_text("boot_servers: {hosts: {boot: {ansible_host: 10.20.0.1}}}\n")
    (tmp_path / "token").write_text(TOKEN)
    text = f"plugin: sled.fleet.sledd\nserver: {sledd.url}\ntoken_file: token\nfacts: true\n"
    (tmp_path / "site.sledd.yml").write_text(f"{text}keyed_groups: [{key}]\n")
    ran = ansible("inventory", tmp_path, "-i", "hosts.yml", "-i", "site.sledd.yml", "--list")
    assert words in ran.stderr
    found = json.loads(ran.stdout, object_hook=plain)
    assert found["boot_servers"]["hosts"] == ["boot"]
    assert found["_meta"]["hostvars"]["boot"]["ansible_host"] == "10.20.0.1"


KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"


def test_host_keys_are_asked_for_when_ssh_connects(rack: Sledd, tmp_path: Path) -> None:
    rack.objects["nodes"]["52:54:00:77:00:01"]["status"]["os"] = {"host_key": KEY}
    names = listed(rack, tmp_path)["_meta"]["hostvars"]
    assert (names["n1"]["sled_host_key"], names["n2"]["sled_host_key"]) == (KEY, "")
    assert "ansible_ssh_common_args" not in names["n1"]
    names = listed(rack, tmp_path, "sledctl: /opt/my sled/sledctl\n")["_meta"]["hostvars"]
    words = shlex.split(names["n2"]["ansible_ssh_common_args"])
    shown = subprocess.run(["ssh", "-G", *words, "n2"], capture_output=True, text=True, check=True, timeout=60).stdout
    assert "stricthostkeychecking true" in shown
    assert "hostkeyalias 52:54:00:77:00:02" in shown
    given = next(line for line in shown.splitlines() if line.startswith("knownhostscommand "))
    token = tmp_path / "secrets/token"
    assert shlex.split(given)[1:] == [
        "/opt/my sled/sledctl", f"--server={rack.url}", f"--token-file={token}", "known-hosts", "52:54:00:77:00:02",
    ]  # fmt: skip


@pytest.mark.parametrize("known", [True, False])
def test_ssh_accepts_the_key_that_the_command_prints(known: bool, tmp_path: Path) -> None:
    """With the real ssh, and the SSH server of a rescue, which lets nobody in here."""
    program, key = tmp_path / "50% sledctl", tmp_path / "host"
    make = ["dropbearkey", "-t", "ed25519", "-f", str(key)]
    made = subprocess.run(make, capture_output=True, text=True, check=True, timeout=60).stdout
    public = " ".join(made.splitlines()[1].split()[:2]) if known else KEY
    program.write_text(f'#!/bin/sh\necho "$*" >{tmp_path}/asked\necho n1,"$3" {public}\n')
    program.chmod(0o755)
    words = shlex.split(ssh_arguments("52:54:00:77:00:01", [str(program), "--ca=50%h"]))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        words += ["-F", "none", "-o", "BatchMode=yes", "-o", "IdentityFile=none", "-p", str(listening.getsockname()[1])]
        ssh = subprocess.Popen(["ssh", *words, "nobody@127.0.0.1", "true"], stderr=subprocess.PIPE, text=True)
        listening.settimeout(60)
        connection, _ = listening.accept()
        with connection:
            subprocess.run(["dropbear", "-i", "-s", "-r", str(key)], stdin=connection.fileno(), check=False, timeout=60)
        _, said = ssh.communicate(timeout=60)
    assert (tmp_path / "asked").read_text() == "--ca=50%h known-hosts 52:54:00:77:00:01\n", said
    assert ssh.returncode == 255
    assert ("Permission denied" in said) == known, said
    assert ("Host key verification failed" in said) != known, said


def test_paths_that_ssh_would_split() -> None:
    with pytest.raises(SledError, match="without quotes"):
        ssh_arguments("52:54:00:77:00:01", ['/a"b/sledctl'])


def test_the_key_of_the_ssh_server_that_runs() -> None:
    other = KEY[:-4] + "AAAA"
    node: Json = {"status": {"os": {"host_key": KEY}}}
    assert host_key(node) == KEY
    assert host_key({**node, "rescue": {"host_key": other}}) == other
    assert host_key({**node, "rescue": {}}) == KEY
    for wrong in ("ssh-rsa AAAA", KEY + "\n@cert-authority * " + KEY, KEY + " me", 7, None):
        assert not host_key({"status": {"os": {"host_key": wrong}}})


def test_the_cache_is_used_until_it_is_flushed_or_the_options_change(rack: Sledd, tmp_path: Path) -> None:
    cached = "cache: true\ncache_plugin: ansible.builtin.jsonfile\ncache_connection: cache\ncache_timeout: 600\n"

    def phase(more: str = cached) -> str:
        return str(listed(rack, tmp_path, more)["_meta"]["hostvars"]["n1"]["sled_phase"])

    node = next(one for one in rack.objects["nodes"].values() if one["name"] == "n1")
    node["labels"] |= {"__ansible_vault": "{{ 1 + 1 }}"}
    first = listed(rack, tmp_path, cached)
    node["status"]["phase"] = "failed"
    asked = len(rack.asked)
    assert listed(rack, tmp_path, cached) == first, "the first time it came from sledd"
    assert len(rack.asked) == asked
    assert phase(cached + "labels: {rack: a}\n") == "failed"
    assert phase() == "operational"
    assert phase(cached.replace("true", "false")) == "failed"
    file = str(tmp_path / "site.sledd.yml")
    listed(rack, tmp_path, cached)
    ansible("inventory", tmp_path, "-i", file, "--list", "--flush-cache")
    assert phase() == "failed"


def test_discovered_nodes_are_asked_for(rack: Sledd, tmp_path: Path) -> None:
    more = "discovered: true\ngroup_by: [phase]\nlabels: {rack: a}\nphase: idle\nimage: v1\n"
    found = listed(rack, tmp_path, more)
    assert found["phase_discovered"]["hosts"] == ["52-54-00-77-00-03"]
    assert "image_v1" not in found
    assert rack.asked[0][1] == "/v1/nodes?label=rack%3Da&phase=idle&image=v1&limit=2000"


def test_a_server_that_refuses_stops_the_inventory(rack: Sledd, tmp_path: Path) -> None:
    rack.refuse = [503] * 9
    ran = inventory(rack, tmp_path)
    assert ran.returncode != 0
    assert "so says the test (503 T)" in " ".join(ran.stderr.split()), "lines may be wrapped"
    assert TOKEN not in ran.stderr + ran.stdout


def test_variables_of_a_node_that_was_never_seen() -> None:
    node: Json = {"mac": "52:54:00:77:00:01", "declared": False, "status": {}, "facts": {"disks": []}}
    assert inventory_name(node) == "52-54-00-77-00-01"
    found = variables(node)
    assert found["sled_phase"] == ""
    assert "ansible_host" not in found


def test_a_playbook(sledd: Sledd, tmp_path: Path) -> None:
    """The doc fragment, the action group and the environment hold together under ansible-playbook."""
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "vars": {"ansible_python_interpreter": sys.executable},
        "module_defaults": {"group/sled.fleet.api": {"server": sledd.url, "token": TOKEN}},
        "tasks": [
            {"sled.fleet.node": {"name": "n1", "mac": "52:54:00:77:00:01"}},
            {"sled.fleet.binding": {"node": "n1", "image": "v1"}},
            {"sled.fleet.event": {"node": "n1", "detail": True}},
        ],
    }
    (tmp_path / "play.json").write_text(json.dumps([play]))
    ran = ansible("playbook", tmp_path, "-c", "local", "-i", "localhost,", "-vvv", "--diff", "play.json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "changed=3" in ran.stdout
    assert TOKEN not in ran.stdout
    play["tasks"] = [{"sled.fleet.bindings": {"nodes": ["n1"], "image": "v1"}}]
    (tmp_path / "play.json").write_text(json.dumps([play]))
    ran = ansible("playbook", tmp_path, "-c", "local", "-i", "localhost,", "play.json")
    assert "image: no option of sled.fleet.bindings" in ran.stdout


@pytest.mark.parametrize("name", ["admit", "node", "image", "binding", "event"])
def test_documentation_says_what_the_spec_says(name: str, tmp_path: Path) -> None:
    module = __import__(f"ansible_collections.sled.fleet.plugins.modules.{name}", fromlist=["SPEC"])
    ran = ansible("doc", tmp_path, "--json", f"sled.fleet.{name}")
    assert ran.returncode == 0, ran.stderr
    described = json.loads(ran.stdout)[f"sled.fleet.{name}"]
    options = described["doc"]["options"]
    assert set(options) == set(module.SPEC)
    for option, spec in module.SPEC.items():
        for key in ("type", "default", "choices", "required", "elements"):
            assert options[option].get(key) == spec.get(key) or (key == "required" and not spec.get(key)), (option, key)
    assert described["examples"]
    assert described["return"]
    assert described["doc"]["attributes"]["check_mode"]["support"] == "full"
