#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks sledd and the machines themselves what they are, and writes it down.

summary.py identity FILE NODE=ADDRESS...  saves each node's machine id and boot id, as read over SSH
summary.py plan FILE SHOWN --exit CODE [--only NODE]  condenses what `terraform show -json` prints of a plan;
    fails if it is to image one node again and does anything else
summary.py write FILE NODE=ADDRESS... [--before FILE --untouched NODE,...] [--plans FILE...]  writes the summary of a
    demo; fails unless every image is signed, and every node answers on SSH, the untouched ones with the ids
    that were saved

Where sledd is comes from SLED_SERVER, SLED_CA and SLED_TOKEN_FILE; the SSH key from SLED_SSH_KEY, LAB/secrets/ssh.
Host keys are those that sledd knows of the nodes (build/bin/sledctl), and that LAB knows of the boot server.
"""

from __future__ import annotations

import argparse
import json
import os
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

# BEGIN words: stages-python (from contract/words/stages.yml by tools/words.py)
STAGES = ("firmware", "warm", "kernel", "wipe", "write", "hold", "configure", "capture", "fetch", "run", "start")
# END words
SLEDCTL = Path(__file__).resolve().parents[1] / "build/bin/sledctl"
IDENTITY = "hostname; cat /etc/machine-id /proc/sys/kernel/random/boot_id"


def api(path: str) -> Any:
    """The JSON answer to a GET of sledd's operator API. Deadline: 10 s."""
    token = Path(os.environ["SLED_TOKEN_FILE"]).read_text(encoding="ascii").strip()
    request = urllib.request.Request(os.environ["SLED_SERVER"] + path, headers={"Authorization": f"Bearer {token}"})
    trust = ssl.create_default_context(cafile=os.environ["SLED_CA"])
    with urllib.request.urlopen(request, timeout=10, context=trust) as answer:
        return json.load(answer)


def over_ssh(address: str, command: str, known: list[str]) -> list[str]:
    """The lines that the command prints on a machine; none when SSH does not answer within 20 s.

    `known`: options of ssh that say which host key it accepts.
    """
    options = ["BatchMode=yes", "ConnectTimeout=10", "StrictHostKeyChecking=yes", "LogLevel=ERROR", *known]
    words = [word for option in options for word in ("-o", option)]
    words += ["-i", os.environ["SLED_SSH_KEY"], f"root@{address}", command]
    try:
        done = subprocess.run(["ssh", *words], capture_output=True, text=True, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        return []
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []


def identity(name: str, address: str) -> dict[str, str]:
    """Host name, machine id and boot id of the node that answers there; empty when it does not."""
    command = f'KnownHostsCommand="{SLEDCTL}" known-hosts {name}'
    answer = over_ssh(address, IDENTITY, [f"HostKeyAlias={name}", "UserKnownHostsFile=/dev/null", command])
    return dict(zip(("hostname", "machine_id", "boot_id"), answer, strict=False))


def node_summary(name: str, address: str) -> dict[str, Any]:
    """One node as sledd observed it; ssh is true only if the boot reported to sledd answers under the node's name."""
    node = api(f"/v1/nodes/{name}")
    timeline = api(f"/v1/nodes/{name}/timeline")
    stages = {stage["name"]: stage for stage in timeline["stages"]}
    write = stages.get("write", {})
    seen = identity(name, address)
    status = node["status"]
    confirmed = status.get("os") or {}
    return {
        "name": node["name"],
        "mac": node["mac"],
        "phase": status["phase"],
        "image": status.get("image", ""),
        "digest": status.get("digest", ""),
        "generation": status["generation"],
        "ssh": seen.get("hostname") == name and seen.get("boot_id") == confirmed.get("boot_id"),
        "seconds": {
            **{stage: stages[stage]["seconds"] for stage in STAGES if stage in stages},
            "total": timeline["total"],
        },
        "write": {"bytes": write.get("bytes", 0), "rate": write.get("rate", 0)},
    }


def boot_server_summary(address: str) -> dict[str, Any]:
    """What runs on the boot server."""
    services = ("sledd", "nginx", "dnsmasq")
    command = '. /etc/os-release; echo "$PRETTY_NAME"; systemctl is-active ' + " ".join(services) + " || :"
    known = Path(os.environ["SLED_SSH_KEY"]).parents[1] / "boot_server/known_hosts"
    system = over_ssh(address, command, [f'UserKnownHostsFile="{known}"'])
    return {
        "address": address,
        "system": system[0] if system else "",
        "services": dict(zip(services, system[1:], strict=False)),
    }


def changed(saved: Path, addresses: dict[str, str], names: list[str]) -> list[str]:
    """Which of these nodes are not the machine and boot that were saved."""
    before = json.loads(saved.read_text(encoding="utf-8"))
    return [name for name in names if not before[name] or identity(name, addresses[name]) != before[name]]


def plan_summary(shown: dict[str, Any], code: int) -> dict[str, Any]:
    """What a plan would do, and the exit code that `plan -detailed-exitcode` gave."""
    changes = [
        one
        for one in shown.get("resource_changes", [])
        if one["mode"] == "managed" and one["change"]["actions"] != ["no-op"]
    ]
    actions = [action for one in changes for action in one["change"]["actions"]]
    return {
        "exit": code,
        "add": actions.count("create"),
        "change": actions.count("update"),
        "destroy": actions.count("delete"),
        "changes": [change_summary(one) for one in changes],
    }


def change_summary(one: dict[str, Any]) -> dict[str, Any]:
    """One change: of a binding also its image and generation, before and after; null is none, or not known yet."""
    before, after = one["change"]["before"] or {}, one["change"]["after"] or {}
    summary = {"address": one["address"], "actions": one["change"]["actions"]}
    if one["type"] == "sled_binding":
        summary |= {name: [before.get(name), after.get(name)] for name in ("image", "generation")}
    return summary


def images_only(node: str, plan: dict[str, Any]) -> bool:
    """Whether the plan images this node again, under the next generation, and does nothing else."""
    if [change["address"] for change in plan["changes"]] != [f'sled_binding.lab["{node}"]']:
        return False
    change = plan["changes"][0]
    return bool(change["actions"] == ["update"] and change["generation"][1] == change["generation"][0] + 1)


def identities(options: argparse.Namespace) -> list[str]:
    """Saves who answers at the addresses."""
    save(options.file, {name: identity(name, address) for name, address in options.nodes})
    return []


def plan(options: argparse.Namespace) -> list[str]:
    """Saves the actions of a plan, and returns what is wrong with it."""
    result = plan_summary(json.loads(options.shown.read_text(encoding="utf-8")), options.exit)
    save(options.file, result)
    wrong = options.only and not images_only(options.only, result)
    return [f"the plan does not image {options.only} alone: {json.dumps(result['changes'])}"] if wrong else []


def write(options: argparse.Namespace) -> list[str]:
    """Saves the summary of a demo, and returns what is wrong with it."""
    addresses = dict(options.nodes)
    result = {
        "nodes": [node_summary(name, address) for name, address in addresses.items()],
        "boot_server": boot_server_summary(options.boot_server),
        "images": api("/v1/images")["items"],
        "plans": [json.loads(file.read_text(encoding="utf-8")) for file in options.plans],
    }
    save(options.file, result)
    problems = [f"image {image['name']} is not signed" for image in result["images"] if not image.get("signature")]
    problems += [f"{node['name']} is {node['phase']}, ssh {node['ssh']}" for node in result["nodes"] if not node["ssh"]]
    if options.before:
        names = [name for name in options.untouched.split(",") if name]
        problems += [f"{name} is not the boot it was" for name in changed(options.before, addresses, names)]
    return problems


def save(file: Path, result: Any) -> None:
    file.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(required=True)
    made = {
        work: actions.add_parser(name) for name, work in (("identity", identities), ("plan", plan), ("write", write))
    }
    for work, command in made.items():
        command.set_defaults(work=work)
        command.add_argument("file", type=Path)
    for command in (made[identities], made[write]):
        command.add_argument("nodes", nargs="+", metavar="NODE=ADDRESS", type=lambda text: text.split("=", 1))
    made[plan].add_argument("shown", type=Path)
    made[plan].add_argument("--exit", type=int, required=True)
    made[plan].add_argument("--only", metavar="NODE")
    made[write].add_argument("--boot-server", default="10.77.0.1")
    made[write].add_argument("--before", type=Path, help="file that `identity` wrote")
    made[write].add_argument("--untouched", default="", help="names of nodes, joined by commas")
    made[write].add_argument("--plans", type=Path, nargs="+", default=[], help="files that `plan` wrote")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    problems: list[str] = options.work(options)
    for problem in problems:
        print(f"summary: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
