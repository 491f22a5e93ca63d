# SPDX-License-Identifier: Apache-2.0
"""`sled init` in a minimal Debian with the packages of the release: what it refuses, and a site that it makes.

The network is that of the page "install", whose commands make the site and remove it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from container import FILES, boot, minimal

# What the roles install.
LATER = "ca-certificates cpio curl dnsmasq netplan.io nftables nginx-light openssl tftp-hpa"
PAGE = Path(__file__).resolve().parents[2] / "docs/install.md"
# A network of one wire: this machine has eno2, and another one the end that may have a DHCP server.
NETWORK = """
ip link add eno2 type veth peer name far
ip link add bare type bridge
ip netns add other
ip link set far netns other
ip address add 10.20.0.1/24 dev eno2
ip link set eno2 up
ip netns exec other ip address add 10.20.0.254/24 dev far
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
LOOK = r"""
packages() { dpkg-query -W -f '${Package}\n'; }
files() { FILES
}
ports() { ss -Hlntu | awk '{ print $5 }' | grep -E ':(67|69|80|443)$' | sed 's/.*://' | sort -u; }
fails() { if "$@"; then exit 1; fi; }
other() {
	PYTHONPATH=/usr/lib/sled/init ip netns exec other python3 -B -c 'import dhcp; print(dhcp.server("far"))'
	ip netns exec other tftp -m binary 10.20.0.1 -c get undionly.kpxe /debs/undionly
	cmp /debs/undionly /srv/sled/tftp/undionly.kpxe && echo same
	ip netns exec other python3 -c 'if True:
		import urllib.request
		with urllib.request.urlopen("http://10.20.0.1/boot/52-54-00-77-00-01.ipxe", timeout=10) as answer:
			print(answer.readline().decode(), end="")'
}
""".replace("FILES", FILES)
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
- 10.20.0.254 answers DHCP on eno2, and two servers would hand out addresses. With --proxy it stays, \
and Sled adds only what machines boot; else stop it.""",
    "address": """\
- bare has no IPv4 address. Set a fixed one first, such as 10.20.0.1/24 in /etc/network/interfaces.""",
    "interface": """\
- eth7: there is no such interface. There are eno2 (10.20.0.1/24), bare (no IPv4). Choose one by --interface.""",
    "range": """\
- --range 10.8.0.5-10.8.0.9: 10.8.0.5 is no address of a machine in 10.20.0.0/24. \
Choose FIRST-LAST in 10.20.0.0/24 of eno2.""",
    "words": """\
- --range 10.20.0.5: 10.20.0.5: want FIRST-LAST, such as 10.20.0.1-10.20.0.254. \
Choose FIRST-LAST in 10.20.0.0/24 of eno2.""",
    "disk": "- /srv has 0.0 GB free, 4 GB are needed. Make room, or mount a larger filesystem there.",
    "system": "- Elbian 9 is not tested (tested: Debian 12). To try it all the same: --untested.",
}

PLAN = """\
sled init makes this machine the boot server of a new site:
  installs   dnsmasq, netplan.io, nginx-light, nftables, tftp-hpa and what these need, from Debian's mirror
  starts     sledd; nginx on ports 80 and 443; dnsmasq for DHCP and TFTP on eno2 (10.20.0.1/24)
  DHCP       hands out 10.20.0.50-10.20.0.99
  writes     /etc/sled/site, keys and certificates in /etc/sled, /etc/nginx, /etc/dnsmasq.d, /etc/dnsmasq.hosts.d,
             units in /etc/systemd/system, /usr/bin/sledd; data in /srv/sled and /var/lib/sled
  makes      the SSH key /root/.ssh/id_ed25519, by which you log in to machines
"""
END = """
The site runs.
  API, dashboard   https://10.20.0.1/ui/
  CA               /etc/sled/site/secrets/ca.crt, sha256 Fingerprint=SUM
  token            /etc/sled/site/secrets/admin.token
  sledctl          export SLED_SERVER=https://10.20.0.1 SLED_CA=/etc/sled/site/secrets/ca.crt \
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
    return dict(part.split("\n", 1) for part in re.split(r"^== ", text, flags=re.M)[1:])


def test_refusals_change_nothing(root: Path) -> None:
    output = boot(
        root,
        f"""set -e
        apt-get -q update >/debs/apt 2>&1
        apt-get -q install sled >>/debs/apt 2>&1
        {NETWORK} {STATE}
        refused terminal
        refused address --interface bare --proxy
        refused interface --interface eth7 --proxy
        refused range --interface eno2 --range 10.8.0.5-10.8.0.9
        refused words --interface eno2 --range 10.20.0.5

        python3 -c '{LISTEN}' & programs=$!
        until [ "$(ss -Hlntup | grep -c pid=$programs,)" = 4 ]; do sleep 0.1; done
        refused ports --interface eno2 --proxy
        kill $programs

        ip netns exec other dnsmasq --no-daemon --conf-file=/dev/null --port=0 --interface=far --bind-interfaces \
            --dhcp-range=10.20.0.100,10.20.0.120 --leasefile-ro 2>/debs/dnsmasq & serving=$!
        until ip netns exec other ss -Hlnu | grep -q ':67 '; do sleep 0.1; done
        refused server --interface eno2 --range 10.20.0.50-10.20.0.99
        kill $serving

        mkdir -p /etc/nginx/conf.d /etc/dnsmasq.d
        touch /etc/nginx/conf.d/intranet.conf /etc/dnsmasq.d/lan.conf
        systemd-run -q --unit dnsmasq sleep 600
        refused configurations --interface eno2 --proxy
        systemctl stop dnsmasq
        rm -r /etc/nginx /etc/dnsmasq.d

        mount -t tmpfs -o size=1M tmpfs /srv
        refused disk --interface eno2 --proxy
        umount /srv

        printf 'ID=elbian\\nVERSION_ID=9\\nPRETTY_NAME="Elbian 9"\\n' >/debs/os-release
        mount --bind /debs/os-release /usr/lib/os-release
        refused system --interface eno2 --proxy
        umount /usr/lib/os-release
        """,
    )
    found = parts(output)
    for name, wanted in REFUSALS.items():
        words = found.pop(name).strip().removeprefix("sled init: refused, nothing has changed:\n")
        assert words == wanted, name
    assert not found


def of_page(start: str) -> str:
    """The command of the page "install" that starts so."""
    (found,) = set(re.findall(rf"^{start}.*$", PAGE.read_text(), re.M))
    return str(found)


def script() -> str:
    """Makes the site, looks at it, removes it, makes it again, removes it for good."""
    init = f"{of_page('sled init --')} --yes </dev/null"
    return f"""set -e
        {NETWORK}
        {LOOK}
        packages >/debs/packages
        files >/debs/files
        cd /debs
        {of_page("apt install ./")} >/debs/apt 2>&1
        start=$(date +%s)
        echo '== init'
        {init}
        echo '== seconds'
        echo $(($(date +%s) - start))
        echo '== ports'
        ports
        echo '== from another machine'
        other
        echo '== api'
        eval "$(sed -n 's/^  sledctl  *//p' /debs/output)"
        sledctl version
        sledctl status
        sledctl node apply n1 --mac 52:54:00:77:00:01
        echo '== again'
        {init} 2>&1 || :
        sled site

        echo '== unconfirmed'
        fails sled uninstall </dev/null
        sledctl node get n1
        echo '== uninstall'
        {of_page("sled uninstall")} --yes
        echo '== left'
        dpkg --verify nginx-common dnsmasq
        ports
        echo '== back'
        sled site
        sledctl node get n1 -o name

        echo '== purge'
        sled uninstall --purge --yes
        {of_page("apt purge sled")} >>/debs/apt 2>&1
        packages | grep -vxFf /debs/packages | xargs apt-get purge >>/debs/apt 2>&1
        rm -r /root/.ssh /root/.ansible
        echo '== changed'
        # netbase and nginx-common make the two, and do not remove them
        files | grep -vx -e /etc/hosts -e /var/www/html/index.nginx-debian.html | diff /debs/files - || :
        grep sled /etc/passwd /etc/group || :
        """


def test_site(root: Path, version: str) -> None:
    """From the package to a site that answers. It is removed, back with its store, and gone."""
    found = parts(boot(root, script(), minutes=30))
    plan, _, rest = found["init"].partition("\nPLAY [")
    assert plan == PLAN
    assert re.sub(r"(?:[0-9A-F]{2}:){31}[0-9A-F]{2}", "SUM", rest[rest.index("\nThe site runs.") :]) == END
    assert found["ports"].split() == ["443", "67", "69", "80"]
    assert found["from another machine"] == "10.20.0.1\nsame\n#!ipxe\n"
    assert found["api"].count(version) >= 2, found["api"]
    assert "- /etc/sled/site exists: this site is described." in found["again"]
    assert re.search(r"^boot .* changed=0 .* failed=0 ", found["again"], re.M), found["again"]
    assert "not confirmed: nothing was changed" in found["unconfirmed"]
    assert found["left"] == ""
    assert found["back"].endswith("\nn1\n"), found["back"]
    assert found["changed"] == ""
    print(f"sled init: {found['seconds'].strip()} s")
