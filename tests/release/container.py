# SPDX-License-Identifier: Apache-2.0
"""Minimal Debian containers that have what `sled` depends on, and an apt repository of the release in /debs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MIRROR = "http://deb.debian.org/debian"
# The system: not in the packages' Depends.
SYSTEM = "dbus,systemd,systemd-sysv"
# All files but dpkg's and apt's own, logs, and caches.
FILES = r"""
find / -xdev \( -path /proc -o -path /sys -o -path /run -o -path /tmp -o -path /var/lib/dpkg -o -path /var/lib/apt \
	-o -path /var/cache -o -path /var/log -o -path /debs -o -path '/var/lib/systemd*' -o -name __pycache__ \) -prune \
	-o \( -type f -o -type l \) -print | sort
find /usr/lib/sled -name __pycache__ 2>/dev/null || :
"""
APT = 'APT::Install-Recommends "false";\nAPT::Get::Assume-Yes "true";\n'


@contextmanager
def minimal(release: Path, suite: str, include: str = "", later: str = "") -> Iterator[Path]:
    """The root file system; `include` are further packages, `later` those that only /debs has, with what they need."""
    cache = Path(os.environ.get("SLED_CACHE", Path.home() / ".cache/sled")) / "roots"
    debs = [next(release.glob(f"{name}_*_amd64.deb")) for name in ("sled", "sledctl")]
    fields = subprocess.run(["dpkg-deb", "-f", debs[0], "Depends"], check=True, capture_output=True, text=True).stdout
    needed = [word.split()[0] for word in fields.split(", ") if not word.startswith("sledctl")]
    made = cache / suite
    shutil.rmtree(made, ignore_errors=True)
    made.parent.mkdir(parents=True, exist_ok=True)
    options = ["--quiet", "--variant=minbase", f"--include={','.join([SYSTEM, *needed, include])}"]
    download = f'chroot "$1" apt-get -q install -y --download-only --no-install-recommends {later}'
    hooks = [f'--customize-hook={download} && mkdir "$1/debs" && mv "$1"/var/cache/apt/archives/*.deb "$1/debs"']
    subprocess.run(["mmdebstrap", *options, *(hooks if later else []), suite, made, MIRROR], check=True)
    (made / "debs").mkdir(exist_ok=True)
    (made / "etc/apt/apt.conf.d/test").write_text(APT)
    for deb in debs:
        shutil.copy(deb, made / "debs")
    if later:
        index = subprocess.run(["apt-ftparchive", "packages", "."], cwd=made / "debs", check=True, capture_output=True)
        (made / "debs/Packages").write_bytes(index.stdout)
        (made / "etc/apt/sources.list").write_text("deb [trusted=yes] file:/debs ./\n")
    yield made
    shutil.rmtree(made)


@contextmanager
def _layer(root: Path) -> Iterator[Path]:
    """The same files, of which what is written goes to a layer above, so each test begins with the same."""
    with tempfile.TemporaryDirectory(dir=root.parent) as folder:
        upper, work, merged = (Path(folder) / name for name in ("upper", "work", "merged"))
        for made in (upper, work, merged):
            made.mkdir()
        layers = f"lowerdir={root},upperdir={upper},workdir={work}"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, merged], check=True)
        try:
            yield merged
        finally:
            subprocess.run(["umount", merged], check=True)


def boot(root: Path, script: str, minutes: int = 10) -> str:
    """Runs a script in a system with these files, which has no network, and powers it off; what it printed."""
    with _layer(root) as system:
        return _boot(system, script, minutes)


def _boot(root: Path, script: str, minutes: int) -> str:
    unit = "[Unit]\nAfter=dbus.service\n[Service]\nType=idle\nExecStart=/bin/sh /debs/script\n"
    (root / "debs/script").write_text(f"({script}\n) >/debs/output 2>&1\necho $? >/debs/code\nsystemctl poweroff\n")
    (root / "etc/systemd/system/script.service").write_text(unit)
    wants = root / "etc/systemd/system/default.target.wants"
    wants.mkdir(exist_ok=True)
    (wants / "script.service").unlink(missing_ok=True)
    (wants / "script.service").symlink_to("../script.service")
    command = ["systemd-nspawn", "-q", "-D", str(root), "--boot", "--private-network", "--register=no", "--keep-unit"]
    command += ["--console=pipe"]
    limit = 60 * minutes
    subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=limit)
    output = (root / "debs/output").read_text()
    assert (root / "debs/code").read_text() == "0\n", output
    return output
