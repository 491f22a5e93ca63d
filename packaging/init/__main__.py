# SPDX-License-Identifier: Apache-2.0
"""sled init: makes this machine the boot server of a new site."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import checks

import inventory

SITE = Path(os.environ.get("SLED_SITE", "/etc/sled/site"))
KEY = Path("/root/.ssh/id_ed25519")
PLAN = """\
sled init makes this machine the boot server of a new site:
  installs   dnsmasq, netplan.io, nginx-light, nftables, tftp-hpa and what these need, from Debian's mirror
  starts     sledd; nginx on ports 80 and 443; dnsmasq for DHCP and TFTP on {interface} ({address})
  DHCP       {dhcp}
  writes     {site}, keys and certificates in /etc/sled, /etc/nginx, /etc/dnsmasq.d, /etc/dnsmasq.hosts.d,
             units in /etc/systemd/system, /usr/bin/sledd; data in /srv/sled and /var/lib/sled{key}
"""
END = """
The site runs.
  API, dashboard   {server}/ui/
  CA               {ca}, {fingerprint}
  token            {site}/secrets/admin.token
  sledctl          export SLED_SERVER={server} SLED_CA={ca} SLED_TOKEN_FILE={site}/secrets/admin.token
  settings         {site}, applied by: sled site
Next: sled images   makes the image debian-12-v1
"""


def arguments() -> argparse.Namespace:
    """What the command line states."""
    parser = argparse.ArgumentParser(prog="sled init", description="Makes this machine the boot server of a new site.")
    parser.add_argument("--interface", metavar="NAME", help="interface on the network of the machines")
    dhcp = parser.add_mutually_exclusive_group()
    dhcp.add_argument("--range", metavar="FIRST-LAST", help="addresses that Sled hands out there by DHCP")
    dhcp.add_argument("--proxy", action="store_true", help="another DHCP server there stays")
    parser.add_argument("--untested", action="store_true", help="also on a system that is not tested")
    parser.add_argument("--yes", action="store_true", help="do not ask before changes")
    return parser.parse_args()


def ask(args: argparse.Namespace) -> None:
    """Asks for what the command line does not state."""
    if not args.interface:
        there = checks.shown(checks.interfaces())
        args.interface = answer(f"Interface on the network of the machines, of {there}", "--interface")
    if args.range is None and not args.proxy:
        question = "Addresses that Sled hands out, FIRST-LAST, or nothing where another DHCP server does"
        args.range = answer(question, "--range or --proxy")


def answer(question: str, option: str) -> str:
    """What a person answers; without a terminal, the option is needed."""
    if not sys.stdin.isatty():
        sys.exit(f"sled init: {option} is missing, and there is no terminal to ask")
    try:
        return input(f"{question}: ").strip()
    except (EOFError, KeyboardInterrupt):
        sys.exit("\nsled init: nothing has changed")


def plan(args: argparse.Namespace) -> str:
    """What will change, for people."""
    hands_out = f"hands out {args.range}" if args.range else "hands out no address: the DHCP server that is there does"
    return PLAN.format(
        interface=args.interface,
        address=checks.interfaces()[args.interface],
        dhcp=hands_out,
        site=SITE,
        key="" if KEY.exists() else f"\n  makes      the SSH key {KEY}, by which you log in to machines",
    )


def make(args: argparse.Namespace) -> int:
    """Writes the site, applies it, and prints where it is."""
    address = checks.interfaces()[args.interface]
    assert address  # refused else
    if not KEY.exists():
        KEY.parent.mkdir(mode=0o700, exist_ok=True)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", KEY], check=True)
    values = inventory.variables(address, args.interface, args.range or "")
    inventory.write(SITE, checks.COLLECTION / "inventory/example", values)
    code = subprocess.run(["sled", "site"], check=False).returncode
    if code:
        print(f"sled init: sled site failed, as printed above. {SITE} is written: mend the cause, then run sled site.")
        return code
    ca = SITE / "secrets/ca.crt"
    print(
        END.format(
            server=f"https://{address.ip}",
            ca=ca,
            site=SITE,
            fingerprint=checks.output("openssl", "x509", "-noout", "-fingerprint", "-sha256", "-in", str(ca)).strip(),
        ),
        end="",
    )
    return 0


def main() -> int:
    """Refuses, shows, asks, does."""
    args = arguments()
    if os.geteuid() != 0:
        sys.exit("sled init: only root can do this: sudo sled init")
    ask(args)
    wanted = checks.Wanted(args.interface, args.range or "", args.untested)
    if refused := checks.refusals(wanted, SITE):
        print("sled init: refused, nothing has changed:", *(f"- {one}" for one in refused), sep="\n", file=sys.stderr)
        return 1
    print(plan(args), end="", flush=True)
    if not args.yes and answer("Go ahead? [y/N]", "--yes").lower() not in ("y", "yes"):
        print("sled init: nothing has changed")
        return 1
    return make(args)


if __name__ == "__main__":
    sys.exit(main())
