# SPDX-License-Identifier: Apache-2.0
"""Namespaces: a boot server with two networks, a router to a third, a DHCP server of others, and a client in each."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ROLE = ROOT / "roles/dnsmasq"
BOOT, OTHER, ROUTER = "10.1.0.1", "10.1.0.2", "10.1.0.254"
# Of each network the client's interface, and what is in it.
PLACES = {
    "direct": {"subnet": "10.1.0.0/24", "boot": BOOT, "router": ROUTER, "range": "10.1.0.50-10.1.0.99"},
    "relayed": {"subnet": "10.2.0.0/24", "boot": BOOT, "router": "10.2.0.254", "range": "10.2.0.50-10.2.0.99"},
    "second": {"subnet": "10.3.0.0/24", "boot": "10.3.0.1", "router": "10.3.0.254", "range": "10.3.0.50-10.3.0.99"},
}
CABLES = {  # namespace and interface: address, and the bridge or the other end
    ("boot", "eth1"): (BOOT, "br1"),
    ("boot", "eth3"): ("10.3.0.1", "br3"),
    ("other", "eth1"): (OTHER, "br1"),
    ("other", "eth3"): ("10.3.0.2", "br3"),
    ("router", "eth1"): (ROUTER, "br1"),
    ("router", "eth2"): ("10.2.0.254", "br2"),
    ("router", "eth3"): ("10.3.0.254", "br3"),
    ("direct", "eth0"): ("10.1.0.200", "br1"),
    ("relayed", "eth0"): ("10.2.0.200", "br2"),
    ("second", "eth0"): ("10.3.0.200", "br3"),
}


def ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True)


def link() -> None:
    """As root, in namespaces for network and mounts."""
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    for bridge in ("br1", "br2", "br3"):
        ip(f"link add {bridge} up type bridge")
    for name in sorted({space for space, _ in CABLES}):
        ip(f"netns add {name}")
        ip(f"-n {name} link set lo up")
    for (space, interface), (address, bridge) in CABLES.items():
        end = f"{space}-{interface}"
        ip(f"link add {end} up master {bridge} type veth peer name {interface} netns {space}")
        ip(f"-n {space} address add {address}/24 dev {interface}")
        ip(f"-n {space} link set {interface} up")
    subprocess.run([*inside("router"), "sysctl", "-qw", "net.ipv4.ip_forward=1"], check=True)
    for space in ("boot", "other"):
        ip(f"-n {space} route add 10.2.0.0/24 via {ROUTER}")
    for space, place in PLACES.items():
        ip(f"-n {space} route add default via {place['router']}")


def inside(space: str) -> list[str]:
    return ["ip", "netns", "exec", space]


@contextlib.contextmanager
def running(space: str, words: list[str], log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server that is ended afterwards."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*inside(space), *words], stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=os.environ | environment
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_for(what: str, seconds: float, is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s for {what}")
        time.sleep(0.05)


def listens(space: str, port: int) -> bool:
    """A server has opened a UDP port, or a packet socket, which needs none."""
    words = [*inside(space), "ss", "-Hlnu", f"sport = {port}"]
    return bool(subprocess.run(words, check=True, capture_output=True).stdout)


def render(folder: Path) -> None:
    """What role dnsmasq makes for each kind of network, and what it prints for servers of others, by Ansible."""
    made = [("etc/dnsmasq.d/sled.conf.j2", f"boot-{dhcp}.conf", dhcp) for dhcp in ("server", "proxy", "foreign")]
    made += [(f"foreign/{name}.j2", name, "foreign") for name in ("kea.json", "dhcpd.conf", "dnsmasq.conf")]
    tasks = [
        {
            "template": {"src": source, "dest": str(folder / name), "mode": "0644"},
            "vars": {"dnsmasq_networks": site(dhcp)},
        }
        for source, name, dhcp in made
    ]
    given = {"dnsmasq_address": BOOT, "dnsmasq_http_boot": True, "dnsmasq_tftp_root": "/srv", "_dnsmasq_hosts": "/srv"}
    given["ansible_python_interpreter"] = sys.executable
    files = [str(ROLE / "defaults/main.yml"), str(ROLE / "vars/main.yml")]
    play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "vars_files": files, "tasks": tasks}
    (folder / "play.json").write_text(json.dumps([play]))
    (folder / "templates").symlink_to(ROLE / "templates")
    environment = os.environ | {"ANSIBLE_COLLECTIONS_PATH": str(ROOT / "build/collections")}
    words = ["ansible-playbook", "-i", "localhost,", "-e", json.dumps(given), str(folder / "play.json")]
    done = subprocess.run(words, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def site(dhcp: str) -> list[dict[str, Any]]:
    """The networks as dnsmasq_networks has them."""
    networks = []
    for name, place in PLACES.items():
        network: dict[str, Any] = {"name": name, "subnet": place["subnet"], "dhcp": dhcp}
        if name == "relayed":
            network["relayed"] = True
        else:
            network |= {"interface": "eth1" if name == "direct" else "eth3", "address": place["boot"]}
        if dhcp == "server":
            network |= {"ranges": {"localhost": place["range"]}, "router": place["router"], "ra_address": ""}
        networks.append(network)
    return networks


def survey(place: str) -> dict[str, Any]:
    """All answers to each kind of client there."""
    own = PLACES[place]["subnet"].replace("0/24", "200")
    words = [*inside(place), sys.executable, str(ROLE / "files/dhcp-client"), "eth0"]
    words += ["--survey", PLACES[place]["boot"], own, "--seconds", "2"]
    done = subprocess.run(words, check=True, capture_output=True, text=True, timeout=60)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def leased(place: str, number: int) -> list[str | None]:
    """The addresses that machines get, the first of which asks with four client identifiers."""
    words = [*inside(place), sys.executable, str(Path(__file__).with_name("leases.py")), "eth0", str(number)]
    done = subprocess.run(words, check=True, capture_output=True, text=True, timeout=60)
    found: list[str | None] = json.loads(done.stdout)
    return found
