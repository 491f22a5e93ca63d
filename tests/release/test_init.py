# SPDX-License-Identifier: Apache-2.0
"""`sled init` in a minimal Debian with the packages of the release: what it refuses, and a site that it makes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from container import boot, minimal

# What the roles install.
LATER = "ca-certificates cpio curl dnsmasq nftables nginx-light openssl tftp-hpa"
# A network of one wire: this machine has boot0, and another one the end that may have a DHCP server.
NETWORK = """
ip link add boot0 type veth peer name far
ip link add bare type bridge
ip netns add other
ip link set far netns other
ip address add 10.9.0.1/24 dev boot0
ip link set boot0 up
ip netns exec other ip address add 10.9.0.254/24 dev far
ip netns exec other ip link set far up
"""
STATE = r"""
state() {
	find /etc /root /srv /usr /var/lib -xdev -path /var/lib/systemd -prune -o -type f -printf '%p %m %s %T@\n' | sort
	systemctl list-units --no-legend --plain --all --type=service,socket,timer | awk '{ print $1, $3 }'
	ss -Hlntu
}
refused() {
	name=$1
	shift
	state >/debs/before
	echo "== $name"
	sled init --yes "$@" </dev/null && return 1
	state >/debs/after
	cmp /debs/before /debs/after
}
"""
LISTEN = """
import socket, time
open = [socket.socket(socket.AF_INET, kind) for kind in (1, 1, 2, 2)]
for one, port in zip(open, (80, 443, 67, 69)):
    one.bind(("0.0.0.0", port))
open[0].listen(), open[1].listen()
time.sleep(600)
"""
REFUSALS = {
    "terminal": "sled init: --interface is missing, and there is no terminal to ask",
    "ports": """\
- port 80/tcp, which nginx needs, is in use by python3 (process N). Stop that and disable its unit.
- port 443/tcp, which nginx needs, is in use by python3 (process N). Stop that and disable its unit.
- port 67/udp, which dnsmasq needs, is in use by python3 (process N). Stop that and disable its unit.
- port 69/udp, which dnsmasq needs, is in use by python3 (process N). Stop that and disable its unit.""",
    "configurations": """\
- nginx has a configuration of others, which Sled would replace: /etc/nginx/conf.d/intranet.conf. \
Use another machine; or, if nobody needs it, apt purge nginx-common and remove these.
- dnsmasq has a configuration of others, which Sled would replace: /etc/dnsmasq.d/lan.conf. \
Use another machine; or, if nobody needs it, apt purge dnsmasq and remove these.
- dnsmasq.service runs: Sled's configuration would end its DNS. \
Use another machine; or, if nobody needs it, systemctl disable --now dnsmasq.""",
    "server": """\
- 10.9.0.254 answers DHCP on boot0, and two servers would hand out addresses. With --proxy it stays, \
and Sled adds only what machines boot; else stop it.""",
    "address": """\
- bare has no IPv4 address. Set a fixed one first, such as 10.20.0.1/24 in /etc/network/interfaces.""",
    "interface": """\
- eth7: there is no such interface. There are boot0 (10.9.0.1/24), bare (no IPv4). Choose one by --interface.""",
    "range": """\
- --range 10.8.0.5-10.8.0.9: 10.8.0.5 is no address of a machine in 10.9.0.0/24. \
Choose FIRST-LAST in 10.9.0.0/24 of boot0.""",
    "words": """\
- --range 10.9.0.5: 10.9.0.5: want FIRST-LAST, such as 10.9.0.1-10.9.0.254. \
Choose FIRST-LAST in 10.9.0.0/24 of boot0.""",
    "disk": "- /srv has 0.0 GB free, 4 GB are needed. Make room, or mount a larger filesystem there.",
    "system": "- Elbian 9 is not tested (tested: Debian 12). To try it all the same: --untested.",
}

PLAN = """\
sled init makes this machine the boot server of a new site:
  installs   dnsmasq, nginx-light, nftables, tftp-hpa and what these need, from Debian's mirror
  starts     sledd; nginx on ports 80 and 443; dnsmasq for DHCP and TFTP on boot0 (10.9.0.1/24)
  DHCP       hands out 10.9.0.50-10.9.0.60
  writes     /etc/sled/site, keys and certificates in /etc/sled, /etc/nginx, /etc/dnsmasq.d, /etc/dnsmasq.hosts.d,
             units in /etc/systemd/system, /usr/bin/sledd; data in /srv/sled and /var/lib/sled
  makes      the SSH key /root/.ssh/id_ed25519, by which you log in to machines
"""
END = """
The site runs.
  API, dashboard   https://10.9.0.1/ui/
  CA               /etc/sled/site/secrets/ca.crt, sha256 Fingerprint=SUM
  token            /etc/sled/site/secrets/admin.token
  sledctl          export SLED_SERVER=https://10.9.0.1 SLED_CA=/etc/sled/site/secrets/ca.crt \
SLED_TOKEN_FILE=/etc/sled/site/secrets/admin.token
  settings         /etc/sled/site, applied by: sled site
Next: sled images   makes the image debian-12-v1
"""


@pytest.fixture(scope="module", params=["bookworm"])
def root(request: pytest.FixtureRequest, release: Path) -> Iterator[Path]:
    with minimal(release, request.param, "dnsmasq-base", LATER) as made:
        yield made


def parts(output: str) -> dict[str, str]:
    text = re.sub(r"process \d+", "process N", output)
    return dict(part.split("\n", 1) for part in text.split("== ")[1:])


def test_refusals_change_nothing(root: Path) -> None:
    output = boot(
        root,
        f"""set -e
        apt-get -q update >/debs/apt 2>&1
        apt-get -q install -y --no-install-recommends sled >>/debs/apt 2>&1
        {NETWORK} {STATE}
        refused terminal
        refused address --interface bare --proxy
        refused interface --interface eth7 --proxy
        refused range --interface boot0 --range 10.8.0.5-10.8.0.9
        refused words --interface boot0 --range 10.9.0.5

        python3 -c '{LISTEN}' & listening=$!
        sleep 1
        refused ports --interface boot0 --proxy
        kill $listening

        ip netns exec other dnsmasq --no-daemon --conf-file=/dev/null --port=0 --interface=far --bind-interfaces \
            --dhcp-range=10.9.0.100,10.9.0.120 --leasefile-ro 2>/debs/dnsmasq & serving=$!
        sleep 1
        refused server --interface boot0 --range 10.9.0.50-10.9.0.60
        kill $serving

        mkdir -p /etc/nginx/conf.d /etc/dnsmasq.d
        touch /etc/nginx/conf.d/intranet.conf /etc/dnsmasq.d/lan.conf
        systemd-run -q --unit dnsmasq sleep 600
        refused configurations --interface boot0 --proxy
        systemctl stop dnsmasq
        rm -r /etc/nginx /etc/dnsmasq.d

        mount -t tmpfs -o size=1M tmpfs /srv
        refused disk --interface boot0 --proxy
        umount /srv

        printf 'ID=elbian\\nVERSION_ID=9\\nPRETTY_NAME="Elbian 9"\\n' >/debs/os-release
        mount --bind /debs/os-release /usr/lib/os-release
        refused system --interface boot0 --proxy
        umount /usr/lib/os-release
        """,
    )
    found = parts(output)
    for name, wanted in REFUSALS.items():
        words = found.pop(name).strip().removeprefix("sled init: refused, nothing has changed:\n")
        assert words == wanted, name
    assert not found


def test_site(root: Path, version: str) -> None:
    """From the package to a site that answers: DHCP, the API by what is printed; then there is nothing left to do."""
    output = boot(
        root,
        f"""set -e
        {NETWORK}
        start=$(date +%s)
        echo '== init'
        sled init --interface boot0 --range 10.9.0.50-10.9.0.60 --yes </dev/null
        echo "== seconds"
        echo $(($(date +%s) - start))
        echo '== ports'
        ss -Hlntu | awk '{{ print $5 }}' | grep -E ':(67|69|80|443)$' | sed 's/.*://' | sort -u
        echo '== dhcp'
        PYTHONPATH=/usr/lib/sled/init ip netns exec other python3 -B -c 'import dhcp; print(dhcp.server("far"))'
        echo '== api'
        eval "$(sed -n 's/^  sledctl  *//p' /debs/output)"
        sledctl version
        sledctl status
        echo '== again'
        sled init --interface boot0 --range 10.9.0.50-10.9.0.60 --yes </dev/null 2>&1 || :
        sled site
        """,
        minutes=30,
    )
    found = parts(output)
    plan, _, rest = found["init"].partition("\nPLAY [")
    assert plan == PLAN
    assert re.sub(r"(?:[0-9A-F]{2}:){31}[0-9A-F]{2}", "SUM", rest[rest.index("\nThe site runs.") :]) == END
    assert found["ports"].split() == ["443", "67", "69", "80"]
    assert found["dhcp"] == "10.9.0.1\n"
    assert found["api"].count(version) >= 2, found["api"]
    assert "- /etc/sled/site exists: this site is described." in found["again"]
    assert re.search(r"^boot .* changed=0 .* failed=0 ", found["again"], re.M), found["again"]
    print(f"sled init: {found['seconds'].strip()} s")
