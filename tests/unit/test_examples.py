# SPDX-License-Identifier: Apache-2.0
"""The examples load where a site would use them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.sled.fleet.tests.unit.double import TOKEN, Sledd

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
HOSTS = EXAMPLES / "rack/hosts.yml"


def ansible(program: str, *arguments: str) -> str:
    environment = os.environ | {"ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")}
    command = [str(Path(sys.executable).parent / program), "-i", str(HOSTS), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def play(tmp_path: Path, tasks: list[dict[str, Any]], **variables: Any) -> None:
    book = tmp_path / "play.yml"
    book.write_text(yaml.safe_dump([{"hosts": "nodes", "gather_facts": False, "tasks": tasks}]))
    local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    ansible("ansible-playbook", str(book), "-e", json.dumps(local | variables))


@pytest.fixture
def sledd() -> Any:
    server = Sledd()
    server.start()
    yield server
    server.stop()


def test_rack_is_declared_and_bound_with_the_user_data(sledd: Sledd, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    access = {"sled_server": sledd.url, "sled_ca_file": "", "sled_token_file": str(tmp_path / "token")}
    ansible("ansible-playbook", "playbooks/enroll.yml", "-e", json.dumps(access))
    declared = sledd.objects["nodes"]
    assert {mac: node["name"] for mac, node in declared.items()} == {
        "3c:ec:ef:10:00:01": "n1",
        "3c:ec:ef:10:00:02": "n2",
    }
    assert all(node["disk"] == "model:*SSD*,smallest" for node in declared.values())
    bind = {"nodes": "{{ ansible_play_hosts }}", "server": sledd.url, "token_file": str(tmp_path / "token")}
    play(tmp_path, [{"sled.fleet.bindings": bind, "run_once": True}])
    (sent,) = [body for method, path, body in sledd.asked if method == "POST" and path.startswith("/v1/bindings")][-1:]
    user_data = (EXAMPLES / "user-data").read_text().rstrip("\n")
    assert {item["node"]: item["user_data"] for item in sent["items"]} == {"n1": user_data, "n2": user_data}


def test_user_data_is_a_cloud_config() -> None:
    text = (EXAMPLES / "user-data").read_text()
    limit = next(a["max"] for a in attributes() if a["name"] == "user_data")
    assert text.startswith("#cloud-config\n") and len(text.encode()) <= limit
    assert {"users", "write_files"} <= set(yaml.safe_load(text))


def attributes() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load((ROOT / "contract/words/binding.yml").read_text())["attributes"]
    return found


def test_hooks_silence_a_node_and_end_it(tmp_path: Path) -> None:
    hooks = [{"ansible.builtin.include_tasks": "{{ sled_hook_before }}"}]
    play(tmp_path, hooks, site_silenced=str(tmp_path))
    assert {"n1", "n2"} <= {path.name for path in tmp_path.iterdir()}
    hooks = [{"ansible.builtin.include_tasks": "{{ sled_hook_after }}"}]
    play(tmp_path, hooks, site_silenced=str(tmp_path))
    assert not {"n1", "n2"} & {path.name for path in tmp_path.iterdir()}


def test_image_is_accepted_by_its_role(tmp_path: Path) -> None:
    specification = yaml.safe_load((ROOT / "roles/image/meta/argument_specs.yml").read_text())
    options = specification["argument_specs"]["main"]["options"]["image_list"]
    images = yaml.safe_load((EXAMPLES / "images.yml").read_text())
    checked = {"argument_spec": {"image_list": options}, "provided_arguments": images}
    play(tmp_path, [{"ansible.builtin.validate_argument_spec": checked, "run_once": True}])
    (image,) = images["image_list"]
    files = [path for path in (ROOT / image["overlay"]).rglob("*") if path.is_file()]
    assert files and all(path.relative_to(ROOT / image["overlay"]).parts[0] == "etc" for path in files)
