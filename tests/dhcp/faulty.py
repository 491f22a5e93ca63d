# SPDX-License-Identifier: Apache-2.0
"""Networks in which something is wrong, and what playbooks/dhcp_check.yml says there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from network import BOOT, OTHER, ROOT, leased, site, survey
from others import NO_ROUTER, boot_server, relay, server

sys.path.append(str(ROOT / "plugins/plugin_utils"))
from dhcp_faults import faults  # type: ignore[import-not-found]
from networks import resolve  # type: ignore[import-not-found]

SCRIPT = "/boot/${netX/mac:hexhyp}.ipxe?uuid=${uuid}&serial=${serial:uristring}&arch=${buildarch}"
IPXE = ["--dhcp-match=set:ipxe,175", f"--dhcp-boot=tag:ipxe,http://{BOOT}{SCRIPT},,{BOOT}"]
X64 = [f"--dhcp-match=set:x64,93,{arch}" for arch in (7, 9)]
# What is wrong: `dhcp` of the network, the options of the other server there (none: there is no other), where, the
# words of the fault, and of its remedy.
SEEDED: dict[str, tuple[str, list[str] | None, str, str, str]] = {
    "second server": ("server", [], "direct", "two DHCP servers hand out addresses: 10.1.0.1 and 10.1.0.2", "Stop one"),
    "wrong file for an architecture": (
        "foreign",
        [*IPXE, *X64, f"--dhcp-boot=tag:!ipxe,tag:x64,undionly.kpxe,,{BOOT}"],
        "direct",
        "client 7 is offered undionly.kpxe, and needs snponly.efi",
        "playbooks/dhcp.yml",
    ),
    "option 60 missing": (
        "foreign",
        [*IPXE, "--dhcp-match=set:http,93,16", f"--dhcp-boot=tag:http,http://{BOOT}/ipxe/snponly.efi,,{BOOT}"],
        "direct",
        "client 16 gets no option 60 HTTPClient",
        "playbooks/dhcp.yml",
    ),
    "no router": ("foreign", [NO_ROUTER], "relayed", "names no router (option 3)", "Set it there"),
    "proxy offers eaten": ("proxy", [], "direct", "offers of the proxy 10.1.0.1 do not arrive", "DHCP snooping"),
    "iPXE in a loop": ("foreign", [f"--dhcp-boot=snponly.efi,,{BOOT}"], "direct", "in a loop", "Match option 175"),
    "no answer": ("server", None, "relayed", "no DHCP server answers", "must relay DHCP"),
    "range full": ("server", None, "direct", "the range is full: 10.1.0.1 answers", "Enlarge"),
}


def complaints(kind: str, place: str, asked: dict[str, Any]) -> list[str]:
    """What the check says of the answers in a network."""
    dhcp = kind if kind in ("server", "proxy") else "foreign"
    network = next(one for one in resolve(site(dhcp), "localhost", BOOT) if one["name"] == place)
    url = f"http://{network['boot']}"
    wanted = {"0": "undionly.kpxe", "7": "snponly.efi", "9": "snponly.efi", "11": "ipxe-arm64.efi", "plain": ""}
    wanted["iPXE"] = url + SCRIPT
    if dhcp != "proxy":
        wanted |= {"16": f"{url}/ipxe/snponly.efi", "19": f"{url}/ipxe/ipxe-arm64.efi"}
    found: list[str] = faults(network, wanted, asked["answers"], asked["informed"])
    return found


def seeded(folder: Path) -> Iterator[tuple[str, str]]:
    """Each fault, and what is wrong with what the check says of it."""
    for name, (dhcp, options, place, fault, remedy) in SEEDED.items():
        with ExitStack() as stack:
            if name not in ("proxy offers eaten", "no answer"):
                stack.enter_context(boot_server(folder, dhcp))
            if options is not None:
                stack.enter_context(server(folder, "faulty", options))
            if place == "relayed" and name != "no answer":
                stack.enter_context(relay(folder, OTHER))
            if name == "range full":
                leased(place, 50)
            said = complaints(dhcp, place, survey(place))
        yield name, "" if any(fault in one and remedy in one for one in said) else f"the check says {said}"
