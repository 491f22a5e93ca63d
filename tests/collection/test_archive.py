# SPDX-License-Identifier: Apache-2.0
"""What the archive of ansible-galaxy holds, and that playbooks, roles and plugins work from it without the checkout."""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.sled.fleet.tests.collection.archive import PROGRAMS, ROOT, Installed
from ansible_collections.sled.fleet.tests.unit.double import TOKEN, Sledd

PLAYBOOKS = sorted(path.stem for path in (ROOT / "playbooks").glob("*.yml"))
ROLES = sorted(path.parent.parent.name for path in (ROOT / "roles").glob("*/meta/argument_specs.yml"))

LOCAL = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("installed"))


@pytest.fixture
def sledd() -> Iterator[Sledd]:
    server = Sledd()
    server.start()
    yield server
    server.stop()


def plugins(kind: str) -> list[str]:
    folder = {"module": "modules"}.get(kind, kind)
    return sorted(f"sled.fleet.{path.stem}" for path in (ROOT / "plugins" / folder).glob("*.py"))


def test_archive_holds_tracked_files_only(installed: Installed) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=True, timeout=60, cwd=ROOT,
    )  # fmt: skip
    strangers = set(installed.members) - set(listed.stdout.split()) - {"MANIFEST.json", "FILES.json"}
    assert not strangers
    for part in ("plugins/", "roles/", "playbooks/", "ipxe/", "meta/"):
        wanted = {file for file in listed.stdout.split() if file.startswith(part) and (ROOT / file).is_file()}
        wanted = {file for file in wanted if not file.endswith(".go") and "/test" not in file}
        assert wanted and wanted <= set(installed.members)
    tops = {member.partition("/")[0] for member in installed.members}
    assert not tops & {"build", "molecule", "sledd", "tools", "Makefile", ".vale.ini"}
    pages = [
        member for member in installed.members if member.startswith(("bench/", "contract/", "initrd/", "terraform"))
    ]
    assert {Path(page).suffix for page in pages} <= {".md", ".json"}


def test_pages_refer_to_pages_of_the_archive(installed: Installed) -> None:
    missing = []
    for page in (Path(member) for member in installed.members if member.endswith(".md")):
        text = re.sub(r"^```.*?^```", "", (installed.collection / page).read_text(), flags=re.MULTILINE | re.DOTALL)
        links = (link for link in re.findall(r"\]\(([^)#\s]+\.md)", text) if "://" not in link)
        missing += [f"{page}: {link}" for link in links if not (installed.collection / page.parent / link).exists()]
    assert not missing


def test_checkout_is_out_of_reach(installed: Installed) -> None:
    assert installed.attempt(["test", "-e", str(ROOT / "galaxy.yml")]).returncode == 0
    assert installed.away("test", "-e", str(ROOT / "galaxy.yml")).returncode == 1
    assert installed.away("test", "-e", str(installed.collection / "MANIFEST.json")).returncode == 0


@pytest.mark.parametrize("option", ["--syntax-check", "--list-tasks"])
def test_every_playbook_is_read(installed: Installed, option: str) -> None:
    names = [f"sled.fleet.{name}" for name in PLAYBOOKS]
    done = installed.away("ansible-playbook", "-i", str(installed.inventory), option, *names)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in PLAYBOOKS:
        assert f"playbook: {installed.collection}/playbooks/{name}.yml\n" in done.stdout


@pytest.mark.parametrize("kind", ["module", "inventory"])
def test_every_plugin_is_documented(installed: Installed, kind: str) -> None:
    done = installed.away("ansible-doc", "--json", "-t", kind, *plugins(kind))
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert sorted(json.loads(done.stdout)) == plugins(kind)


def test_supervise_documents_its_outcomes(installed: Installed) -> None:
    done = installed.away("ansible-doc", "--json", "-t", "module", "sled.fleet.supervise")
    returned: dict[str, Any] = json.loads(done.stdout)["sled.fleet.supervise"]["return"]["nodes"]["contains"]
    assert all(set(entry) <= {"description", "type", "elements", "returned", "sample"} for entry in returned.values())
    assert {"state", "reason", "entry_method", "generation"} <= set(returned)


def test_every_role_is_documented(installed: Installed) -> None:
    done = installed.away("ansible-doc", "--json", "-t", "role", *(f"sled.fleet.{role}" for role in ROLES))
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert sorted(json.loads(done.stdout)) == [f"sled.fleet.{role}" for role in ROLES]


@pytest.fixture
def rack(installed: Installed, tmp_path: Path) -> Path:
    """A copy of the example, with a site's own files."""
    copy = tmp_path / "rack"
    shutil.copytree(installed.inventory.parent, copy)
    for name in ("secrets/admin.token", "secrets/bmc", "files/user-data", "hooks/before.yml", "reports/reimage-1.json"):
        (copy / name).parent.mkdir(exist_ok=True)
        (copy / name).write_text("s3cret\n")
    return copy


RACK = {"localhost", "boot", "n1", "n2", "n3", "n4", "n5", "n6", "s1", "s2"}


def hosts(done: subprocess.CompletedProcess[str]) -> set[str]:
    assert done.returncode == 0 and not done.stderr, done.stderr
    return {host for group in json.loads(done.stdout).values() for host in group.get("hosts", [])}


@pytest.mark.parametrize("options", [[], ["-i", "."]])
def test_rack_lists_its_machines_only(installed: Installed, rack: Path, options: list[str]) -> None:
    assert hosts(installed.away("ansible-inventory", "--list", *options, cwd=rack)) == RACK


def test_checkout_lists_the_machines_of_a_rack_only(installed: Installed, rack: Path) -> None:
    settings = f"ANSIBLE_CONFIG={ROOT / 'ansible.cfg'}"
    assert (
        hosts(installed.attempt(["env", settings, str(PROGRAMS / "ansible-inventory"), "--list", "-i", str(rack)]))
        == RACK
    )


def test_rack_has_the_settings_of_the_checkout(rack: Path) -> None:
    settings = {}
    for file in (ROOT / "ansible.cfg", rack / "ansible.cfg"):
        parser = configparser.ConfigParser(interpolation=None)
        parser.read(file)
        settings[file.parent] = {section: dict(parser[section]) for section in parser.sections()}
    for name in ("collections_path", "roles_path", "inventory"):
        settings[ROOT]["defaults"].pop(name)
    assert settings[rack]["defaults"].pop("inventory") == "hosts.yml"
    assert settings[rack] == settings[ROOT]


def test_site_takes_programs_from_sled_dist(installed: Installed) -> None:
    settings = LOCAL | {"ansible_become": False, "sled_dist": "/nowhere"}
    options = ["-i", str(installed.inventory), "--check", "--tags", "sledd", "-e", json.dumps(settings)]
    done = installed.away("ansible-playbook", "sled.fleet.site", *options)
    assert done.returncode != 0
    output = " ".join(done.stdout.split())
    assert "/nowhere/bin/sledd, /nowhere/bin/sledctl" in output
    assert "sled_dist" in output


BIND = """
- hosts: nodes
  gather_facts: false
  module_defaults:
    group/sled.fleet.api: {server: "{{ sled_server }}", token_file: "{{ sled_token_file }}"}
  tasks:
    - sled.fleet.bindings:
        nodes: "{{ ansible_play_hosts }}"
      run_once: true
"""


def bind(installed: Installed, sledd: Sledd, folder: Path, *extra: str) -> dict[str, Any]:
    """Binds a node which sets every attribute as reimage.yml does; returns what sledd was sent last."""
    (folder / "token").write_text(TOKEN)
    (folder / "bind.yml").write_text(BIND)
    settings = {"sled_server": sledd.url, "sled_token_file": str(folder / "token"), "sled_authorized_keys": [KEY]}
    nodes = {"nodes": {"hosts": {"n1": {f"node_{name}": value for name, value in ATTRIBUTES.items()}}}}
    inventory = {"all": {"vars": settings | LOCAL, "hosts": {"localhost": {}}, "children": nodes}}
    (folder / "hosts.yml").write_text(yaml.safe_dump(inventory))
    done = installed.away("ansible-playbook", "-i", str(folder / "hosts.yml"), str(folder / "bind.yml"), *extra)
    assert done.returncode == 0, done.stdout + done.stderr
    (sent,) = next(body for method, path, body in reversed(sledd.asked) if method == "POST")["items"]
    return {name: value for name, value in sent.items() if name not in ("if_revision", "reimage", "keep_user_data")}


KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
ATTRIBUTES: dict[str, Any] = {
    "image": "v1",
    "binding_disk": "serial:X",
    "wipe": "signatures",
    "mode": "delta",
    "verify": "full",
    "allow_unsigned": True,
    "boot": "reboot",
    "hostname": "h1",
    "authorized_keys": [KEY],
    "user_data": "#cloud-config",
    "kernel_arguments": "quiet",
    "owner": "ansible:lab",
}


def test_reimage_sets_every_attribute(installed: Installed, sledd: Sledd, tmp_path: Path) -> None:
    sledd.node("n1", 1)
    wanted = {name.removeprefix("binding_"): value for name, value in ATTRIBUTES.items()} | {"node": "n1"}
    assert bind(installed, sledd, tmp_path) == wanted
    sent = bind(installed, sledd, tmp_path, "-e", "boot=kexec", "-e", "image=v2", "-e", "mode=full")
    assert sent == wanted | {"boot": "kexec", "image": "v2", "mode": "full"}


def test_reimage_keeps_what_another_owner_declares(installed: Installed, sledd: Sledd, tmp_path: Path) -> None:
    node = sledd.node("n1", 1)
    bound = {"node": "n1", "mac": node["mac"], "image": "v9", "owner": "terraform:x", "generation": 1, "revision": 7}
    sledd.objects["bindings"]["n1"] = node["binding"] = bound
    sent = bind(installed, sledd, tmp_path, "-e", "boot=kexec")
    assert sent == {"node": "n1", "image": "v9", "owner": "terraform:x", "boot": "kexec"}


def test_enroll_and_status_run(installed: Installed, sledd: Sledd, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    node = {"node_mac": "52:54:00:77:00:01", "node_disk": "only", "node_flavour": "cloud"}
    settings = {"sled_server": sledd.url, "sled_ca_file": "", "sled_token_file": str(tmp_path / "token")}
    inventory = {
        "all": {"vars": settings | LOCAL, "hosts": {"localhost": {}}, "children": {"nodes": {"hosts": {"n1": node}}}}
    }
    (tmp_path / "hosts.yml").write_text(yaml.safe_dump(inventory))
    done = installed.away(
        "ansible-playbook", "-i", str(tmp_path / "hosts.yml"), "sled.fleet.enroll", "sled.fleet.status"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert sledd.objects["nodes"]["52:54:00:77:00:01"]["name"] == "n1"
    assert "n1, not seen yet" in done.stdout
