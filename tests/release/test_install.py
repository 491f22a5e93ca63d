# SPDX-License-Identifier: Apache-2.0
"""Both packages in minimal Debian containers: what they change, what runs, and what stays after their removal."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

MIRROR = "http://deb.debian.org/debian"
# The system, and what shows its sockets: not in the packages' Depends.
SYSTEM = "dbus,iproute2,systemd,systemd-sysv"
# State of a booted system: units that run, sockets that listen, files that differ from their packages.
STATE = """
systemctl is-system-running --wait >/dev/null || :
systemctl list-units --no-legend --plain --type=service,socket,timer | awk '{ print $1, $3 }'
systemctl list-unit-files --no-legend
ss -Hlntu
dpkg --verify
"""
# All files but dpkg's and apt's own, logs, and caches.
FILES = r"""
find / -xdev \( -path /proc -o -path /sys -o -path /run -o -path /tmp -o -path /var/lib/dpkg -o -path /var/lib/apt \
	-o -path /var/cache -o -path /var/log -o -path /debs -o -path '/var/lib/systemd*' -o -name __pycache__ \) -prune \
	-o \( -type f -o -type l \) -print | sort
find /usr/lib/sled -name __pycache__ 2>/dev/null || :
"""


@pytest.fixture(scope="module", params=["bookworm", "trixie"])
def root(request: pytest.FixtureRequest, release: Path, version: str) -> Iterator[Path]:
    """A minimal Debian with what `sled` depends on, and both packages in /debs."""
    cache = Path(os.environ.get("SLED_CACHE", Path.home() / ".cache/sled")) / "roots"
    debs = [release / f"{name}_{version}_amd64.deb" for name in ("sled", "sledctl")]
    fields = subprocess.run(["dpkg-deb", "-f", debs[0], "Depends"], check=True, capture_output=True, text=True).stdout
    needed = ",".join(word.split()[0] for word in fields.split(", ") if not word.startswith("sledctl"))
    made = cache / request.param
    shutil.rmtree(made, ignore_errors=True)
    made.parent.mkdir(parents=True, exist_ok=True)
    options = ["--quiet", "--variant=minbase", f"--include={SYSTEM},{needed}"]
    subprocess.run(["mmdebstrap", *options, request.param, made, MIRROR], check=True)
    (made / "debs").mkdir()
    for deb in debs:
        shutil.copy(deb, made / "debs")
    yield made
    shutil.rmtree(made)


def boot(root: Path, script: str) -> str:
    """Runs a script in the booted system, which has no network, and powers it off; what it printed."""
    unit = "[Unit]\nAfter=dbus.service\n[Service]\nType=idle\nExecStart=/bin/sh /debs/script\n"
    (root / "debs/script").write_text(f"{{ {script}\n}} >/debs/output 2>&1\necho $? >/debs/code\nsystemctl poweroff\n")
    (root / "etc/systemd/system/script.service").write_text(unit)
    wants = root / "etc/systemd/system/default.target.wants"
    wants.mkdir(exist_ok=True)
    (wants / "script.service").unlink(missing_ok=True)
    (wants / "script.service").symlink_to("../script.service")
    command = ["systemd-nspawn", "-q", "-D", str(root), "--boot", "--private-network", "--register=no", "--keep-unit"]
    subprocess.run(
        [*command, "--console=pipe"], check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=600
    )
    output = (root / "debs/output").read_text()
    assert (root / "debs/code").read_text() == "0\n", output
    return output


def test_installed_and_removed(root: Path, version: str) -> None:
    """`apt install` of the files alone; the playbooks are read by the ansible-core of the package; then all is gone."""
    example = "/usr/share/ansible/collections/ansible_collections/sled/fleet/inventory/example"
    output = boot(
        root,
        f"""set -e
        show() {{ echo "== $1"; {STATE} }}
        files() {{ echo "== $1"; {FILES} }}
        files before
        show state
        apt-get -q install -y --no-install-recommends /debs/sled_*.deb /debs/sledctl_*.deb >/debs/apt 2>&1
        show installed
        echo '== programs'
        sled --version
        sledctl --version
        /usr/lib/sled/bin/sledc --version
        cp -r {example} /debs/site
        mkdir -p /root/.ssh && touch /root/.ssh/id_ed25519.pub
        for verb in site images enroll reimage wipe; do SLED_SITE=/debs/site sled $verb --syntax-check; done
        rm -r /root/.ssh /root/.ansible
        apt-get -q purge -y sled sledctl >>/debs/apt 2>&1
        files after
        """,
    )
    parts = dict(part.split("\n", 1) for part in output.split("== ")[1:])
    assert parts["installed"] == parts["state"]
    assert parts["after"] == parts["before"]
    printed = parts["programs"]
    assert printed.count(version) >= 3, printed
    for verb in ("site", "images", "enroll", "reimage", "wipe"):
        assert f"/playbooks/{verb}.yml\n" in printed, printed
