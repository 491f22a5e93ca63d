# SPDX-License-Identifier: Apache-2.0
"""Both packages in minimal Debian containers: what they change, what runs, and what stays after their removal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from container import FILES, boot, minimal

# State of a booted system: units that run, sockets that listen, files that differ from their packages.
STATE = """
systemctl is-system-running --wait >/dev/null || :
systemctl list-units --no-legend --plain --type=service,socket,timer | awk '{ print $1, $3 }'
systemctl list-unit-files --no-legend
ss -Hlntu
dpkg --verify
"""


@pytest.fixture(scope="module", params=["bookworm", "trixie"])
def root(request: pytest.FixtureRequest, release: Path) -> Iterator[Path]:
    with minimal(release, request.param) as made:
        yield made


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
        apt-get -q install /debs/sled_*.deb /debs/sledctl_*.deb >/debs/apt 2>&1
        show installed
        echo '== programs'
        sled --version
        sledctl --version
        /usr/lib/sled/bin/sledc --version
        cp -r {example} /debs/site
        mkdir -p /root/.ssh && touch /root/.ssh/id_ed25519.pub
        for verb in site images enroll reimage wipe; do SLED_SITE=/debs/site sled $verb --syntax-check; done
        rm -r /root/.ssh /root/.ansible
        apt-get -q purge sled sledctl >>/debs/apt 2>&1
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
