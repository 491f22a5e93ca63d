#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks sledd and the machines themselves what they are, and writes it down.

summary.py identity FILE NODE=ADDRESS...  saves each node's machine id and boot id, as read over SSH
summary.py write FILE NODE=ADDRESS... [--before FILE --untouched NODE,...]  writes the summary of a demo; fails unless every
    image is signed, and every node answers on SSH, the untouched ones with the ids that were saved

Where sledd is comes from SLED_SERVER, SLED_CA and SLED_TOKEN_FILE; the SSH key from SLED_SSH_KEY.
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

STAGES = ("firmware", "ipxe", "kernel", "wipe", "write", "configure", "start")
IDENTITY = "hostname; cat /etc/machine-id /proc/sys/kernel/random/boot_id"


def api(path: str) -> Any:
    """The JSON answer to a GET of sledd's operator API. Deadline: 10 s."""
    token = Path(os.environ["SLED_TOKEN_FILE"]).read_text(encoding="ascii").strip()
    request = urllib.request.Request(os.environ["SLED_SERVER"] + path, headers={"Authorization": f"Bearer {token}"})
    trust = ssl.create_default_context(cafile=os.environ["SLED_CA"])
    with urllib.request.urlopen(request, timeout=10, context=trust) as answer:
        return json.load(answer)


def over_ssh(address: str, command: str) -> list[str]:
    """The lines that the command prints on a machine; none when SSH does not answer within 20 s."""
    options = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "StrictHostKeyChecking=no"]
    options += ["-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-i", os.environ["SLED_SSH_KEY"]]
    try:
        done = subprocess.run(["ssh", *options, f"root@{address}", command], capture_output=True, text=True, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        return []
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []


def identity(address: str) -> dict[str, str]:
    """Host name, machine id and boot id of what answers there; empty when nothing does."""
    return dict(zip(("hostname", "machine_id", "boot_id"), over_ssh(address, IDENTITY), strict=False))


def node_summary(name: str, address: str) -> dict[str, Any]:
    """One node as sledd observed it; ssh is true only if the very boot that sledd was told of answers under the node's name."""
    node = api(f"/v1/nodes/{name}")
    timeline = api(f"/v1/nodes/{name}/timeline")
    stages = {stage["name"]: stage for stage in timeline["stages"]}
    write = stages.get("write", {})
    seen = identity(address)
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
        "seconds": {**{stage: stages[stage]["seconds"] for stage in STAGES if stage in stages}, "total": timeline["total"]},
        "write": {"bytes": write.get("bytes", 0), "rate": write.get("rate", 0)},
    }


def boot_server_summary(address: str) -> dict[str, Any]:
    """What runs on the boot server."""
    services = ("sledd", "nginx", "dnsmasq")
    system = over_ssh(address, '. /etc/os-release; echo "$PRETTY_NAME"; systemctl is-active ' + " ".join(services) + " || :")
    return {
        "address": address,
        "system": system[0] if system else "",
        "services": dict(zip(services, system[1:], strict=False)),
    }


def changed(saved: Path, addresses: dict[str, str], names: list[str]) -> list[str]:
    """Which of these nodes are not the machine and boot that were saved."""
    before = json.loads(saved.read_text(encoding="utf-8"))
    return [name for name in names if not before[name] or identity(addresses[name]) != before[name]]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("identity", "write"))
    parser.add_argument("file", type=Path)
    parser.add_argument("nodes", nargs="+", metavar="NODE=ADDRESS", type=lambda text: text.split("=", 1))
    parser.add_argument("--boot-server", default="10.77.0.1")
    parser.add_argument("--before", type=Path, help="file that `identity` wrote")
    parser.add_argument("--untouched", default="", help="names of nodes, joined by commas")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    addresses = dict(options.nodes)
    if options.action == "identity":
        result: Any = {name: identity(address) for name, address in addresses.items()}
    else:
        result = {
            "nodes": [node_summary(name, address) for name, address in addresses.items()],
            "boot_server": boot_server_summary(options.boot_server),
            "images": api("/v1/images")["items"],
        }
    options.file.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if options.action == "identity":
        return 0
    problems = [f"image {image['name']} is not signed" for image in result["images"] if not image.get("signature")]
    problems += [f"{node['name']} is {node['phase']}, ssh {node['ssh']}" for node in result["nodes"] if not node["ssh"]]
    if options.before:
        names = [name for name in options.untouched.split(",") if name]
        problems += [f"{name} is not the boot it was" for name in changed(options.before, addresses, names)]
    for problem in problems:
        print(f"summary: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
