# SPDX-License-Identifier: Apache-2.0
"""DHCP servers of others, each with what playbooks/dhcp.yml prints for it, and the boot server beside them."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from network import BOOT, PLACES, listens, running, wait_for

NO_ROUTER = "--dhcp-option=3"
DNSMASQ = ["dnsmasq", "--keep-in-foreground", "--user=root", "--pid-file", "--log-facility=-", "--log-dhcp"]


@contextlib.contextmanager
def boot_server(folder: Path, dhcp: str) -> Iterator[None]:
    """Role dnsmasq, with `dhcp` in each network."""
    (folder / "leases-boot").unlink(missing_ok=True)
    words = [*DNSMASQ, f"--conf-file={folder}/boot-{dhcp}.conf", f"--dhcp-leasefile={folder}/leases-boot"]
    with running("boot", words, folder / f"boot-{dhcp}.log"):
        wait_for("the boot server", 10, lambda: listens("boot", 69))
        yield


@contextlib.contextmanager
def relay(folder: Path, *servers: str) -> Iterator[None]:
    """The router in front of the network `relayed`."""
    words = [*DNSMASQ, "--conf-file=/dev/null", "--port=0", "--bind-interfaces", "--interface=eth1", "--interface=eth2"]
    words += [f"--dhcp-relay=10.2.0.254,{server}" for server in servers]
    with running("router", words, folder / "relay.log"):
        wait_for("the relay", 10, lambda: listens("router", 67))
        yield


@contextlib.contextmanager
def server(folder: Path, kind: str, options: list[str] | None = None) -> Iterator[None]:
    """A DHCP server of others; with options, a dnsmasq that has these."""
    words = STARTS[kind](folder) if options is None else _dnsmasq(folder, options)
    libraries = f"{folder}/servers/usr/lib/x86_64-linux-gnu"
    log = folder / f"other-{kind}.log"
    environment = {"LD_LIBRARY_PATH": libraries, "KEA_PIDFILE_DIR": str(folder), "KEA_LOCKFILE_DIR": "none"}
    environment["PATH"] = f"{folder}/servers/usr/sbin:{os.environ['PATH']}"
    with running("other", words, log, **environment):
        wait_for(f"{kind}, see {log}", 10, lambda: listens("other", 67))
        yield


def _dnsmasq(folder: Path, more: list[str]) -> list[str]:
    words = [*DNSMASQ, "--port=0", "--conf-file=/dev/null", f"--dhcp-leasefile={folder}/leases-other"]
    words += ["--bind-interfaces", "--interface=eth1", "--interface=eth3", "--dhcp-authoritative", "--no-ping"]
    for name, place in PLACES.items():
        first, last = place["range"].split("-")
        words += [
            f"--dhcp-range=set:{name},{first},{last},255.255.255.0",
            f"--dhcp-option=tag:{name},3" + (f",{place['router']}" if NO_ROUTER not in more else ""),
        ]
    return [*words, *more]


def _isc(folder: Path) -> list[str]:
    text = (folder / "dhcpd.conf").read_text()
    for place in PLACES.values():
        network, first_last = place["subnet"].split("/")[0], place["range"].replace("-", " ")
        text += f"subnet {network} netmask 255.255.255.0 {{ range {first_last}; option routers {place['router']}; }}\n"
    (folder / "dhcpd-whole.conf").write_text(text)
    (folder / "dhcpd.leases").touch()
    words = ["dhcpd", "-4", "-f", "-d", "-cf", f"{folder}/dhcpd-whole.conf", "-lf", f"{folder}/dhcpd.leases"]
    return [*words, "-pf", f"{folder}/dhcpd.pid", "eth1", "eth3"]


def _kea(folder: Path) -> list[str]:
    classes = json.loads("{" + (folder / "kea.json").read_text() + "}")
    subnets = [
        {
            "id": at,
            "subnet": place["subnet"],
            "pools": [{"pool": place["range"]}],
            "option-data": [{"name": "routers", "data": place["router"]}],
        }
        for at, place in enumerate(PLACES.values(), 1)
    ]
    server = {
        "interfaces-config": {"interfaces": ["eth1", "eth3"], "dhcp-socket-type": "raw"},
        "lease-database": {"type": "memfile", "persist": False},
        "subnet4": subnets,
    }
    (folder / "kea-whole.json").write_text(json.dumps({"Dhcp4": server | classes}))
    return ["kea-dhcp4", "-c", f"{folder}/kea-whole.json"]


STARTS = {
    "no boot options": lambda folder: _dnsmasq(folder, []),
    "dnsmasq": lambda folder: _dnsmasq(folder, [f"--conf-file={folder}/dnsmasq.conf"]),
    "ISC dhcpd": _isc,
    "Kea": _kea,
    "one file name": lambda folder: _dnsmasq(folder, [f"--dhcp-boot=snponly.efi,,{BOOT}"]),
}
