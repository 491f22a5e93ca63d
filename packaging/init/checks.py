# SPDX-License-Identifier: Apache-2.0
"""What sled init refuses, each by name and with the remedy. Nothing here changes anything.

What the roles check, once they run, is not repeated: only what would harm the machine or its network, or fail halfway.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dhcp

COLLECTION = Path("/usr/share/ansible/collections/ansible_collections/sled/fleet")
NETWORKS = COLLECTION / "plugins/plugin_utils/networks.py"
TESTED = {"debian 12": "Debian 12"}
GB = 1_000_000_000
# Free space, by its folder: images and the files they are made from; the store; packages.
ROOM = {"/srv": 4 * GB, "/var": 2 * GB}
# Whose a port will be.
PORTS = {("udp", 67): "dnsmasq", ("udp", 69): "dnsmasq", ("tcp", 80): "nginx", ("tcp", 443): "nginx"}
# Of each service, the files that it reads, and the package that has them.
FILES = {
    "nginx": ("nginx-common", ["/etc/nginx"]),
    "dnsmasq": ("dnsmasq", ["/etc/dnsmasq.conf", "/etc/dnsmasq.d", "/etc/default/dnsmasq"]),
}


@dataclass(frozen=True)
class Wanted:
    """What the site is to be."""

    interface: str
    range: str  # FIRST-LAST; empty as a proxy
    untested: bool = False


def output(*command: str) -> str:
    """The output of a command. Without it nothing is known, and nothing is done."""
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError) as failed:
        sys.exit(f"sled init: {' '.join(command)}: {getattr(failed, 'stderr', None) or failed}")


def _active(unit: str) -> bool:
    command = ["systemctl", "is-active", "--quiet", unit]
    return subprocess.run(command, check=False, timeout=60).returncode == 0


def interfaces() -> dict[str, ipaddress.IPv4Interface | None]:
    """Each interface but loopback, with its first IPv4 address."""
    found: dict[str, ipaddress.IPv4Interface | None] = {}
    for link in json.loads(output("ip", "-j", "address")):
        if "LOOPBACK" not in link["flags"]:
            own = [one for one in link["addr_info"] if one["family"] == "inet" and one["scope"] == "global"]
            words = [f"{one['local']}/{one['prefixlen']}" for one in own]
            found[link["ifname"]] = ipaddress.IPv4Interface(words[0]) if words else None
    return found


def shown(found: dict[str, ipaddress.IPv4Interface | None]) -> str:
    """Interfaces with their addresses, for people."""
    return ", ".join(f"{name} ({address or 'no IPv4'})" for name, address in found.items()) or "none"


def system() -> tuple[str, str]:
    """Name and version of this system, as in the table of tested ones, and for people."""
    text = Path("/etc/os-release").read_text()
    words = dict(re.findall(r'^([A-Z_]+)="?([^"\n]*)', text, re.M))
    return f"{words.get('ID')} {words.get('VERSION_ID')}", words.get("PRETTY_NAME", "this system")


def _system(wanted: Wanted) -> Iterator[str]:
    name, people = system()
    if name not in TESTED and not wanted.untested:
        tested = ", ".join(TESTED.values())
        yield f"{people} is not tested (tested: {tested}). To try it all the same: --untested."


def _site(site: Path) -> Iterator[str]:
    if site.exists():
        yield f"{site} exists: this site is described. To apply what changed there: sled site."
    elif Path("/etc/sled/sledd.env").exists():
        yield "/etc/sled/sledd.env exists: this is the boot server of a site that is described on another machine."


def _network(wanted: Wanted) -> Iterator[str]:
    found = interfaces()
    name = wanted.interface
    if name not in found:
        yield f"{name}: there is no such interface. There are {shown(found)}. Choose one by --interface."
        return
    address = found[name]
    if address is None:
        yield f"{name} has no IPv4 address. Set a fixed one first, such as 10.20.0.1/24 in /etc/network/interfaces."
        return
    if wanted.range:
        network = {"name": "rack", "subnet": str(address.network), "interface": name, "dhcp": "server"}
        try:
            resolve = runpy.run_path(str(NETWORKS))["resolve"]
            resolve([network | {"ranges": {"boot": wanted.range}}], "boot", str(address.ip))
        except ValueError as wrong:
            reason = str(wrong).partition("boot: ")[2]
            yield f"--range {wanted.range}: {reason}. Choose FIRST-LAST in {address.network} of {name}."
        if server := dhcp.server(name):
            yield (
                f"{server} answers DHCP on {name}, and two servers would hand out addresses. With --proxy it stays, and"
                " Sled adds only what machines boot; else stop it."
            )


def taken(listing: str, interface: str) -> Iterator[tuple[str, int, str]]:
    """Protocol, port and program of what listens where Sled is to: lines of `ss -Hlntup`."""
    for line in listing.splitlines():
        words = line.split()
        protocol, (place, _, port) = words[0], words[4].rpartition(":")
        device = place.partition("%")[2]
        if (protocol, int(port)) not in PORTS or (device and device != interface):
            continue
        program = re.search(r'"([^"]+)",pid=(\d+)', line)
        yield protocol, int(port), f"{program[1]} (process {program[2]})" if program else "a program"


def _ports(wanted: Wanted) -> Iterator[str]:
    found = taken(output("ss", "-Hlntup"), wanted.interface)
    for (protocol, port), program in sorted({(one, two): program for one, two, program in found}.items()):
        service = PORTS[protocol, port]
        yield f"port {port}/{protocol}, which {service} needs, is in use by {program}. Stop that and disable its unit."


def foreign(files: list[str], unchanged: dict[str, str]) -> list[str]:
    """The files that are not as their package has them."""
    found = []
    for place in map(Path, files):
        for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
            real = file.resolve()
            if real.is_file() and real.is_relative_to("/etc"):
                digest = hashlib.md5(real.read_bytes(), usedforsecurity=False).hexdigest()
                if unchanged.get(str(real)) != digest:
                    found.append(str(file))
    return found


def _configurations() -> Iterator[str]:
    unchanged = dict(re.findall(r"^ (/\S+) ([0-9a-f]{32})", output("dpkg-query", "-W", "-f", "${Conffiles}\n"), re.M))
    for service, (package, files) in FILES.items():
        if found := foreign(files, unchanged):
            yield (
                f"{service} has a configuration of others, which Sled would replace: {', '.join(found)}."
                f" Use another machine; or, if nobody needs it, apt purge {package} and remove these."
            )
    if _active("dnsmasq"):
        yield (
            "dnsmasq.service runs: Sled's configuration would end its DNS."
            " Use another machine; or, if nobody needs it, systemctl disable --now dnsmasq."
        )


def _room() -> Iterator[str]:
    for place, needed in ROOM.items():
        free = shutil.disk_usage(place).free
        if free < needed:
            yield (
                f"{place} has {free / GB:.1f} GB free, {needed // GB} GB are needed."
                " Make room, or mount a larger filesystem there."
            )


def refusals(wanted: Wanted, site: Path) -> list[str]:
    """All that is in the way."""
    if found := [*_site(site)]:
        return found
    return [*_system(wanted), *_network(wanted), *_ports(wanted), *_configurations(), *_room()]
