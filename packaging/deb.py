# SPDX-License-Identifier: Apache-2.0
"""Packages and archives with the same bytes for the same content: everything has the date of the version."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path

from parts import ROOT

MAINTAINER = "The Sled authors <sled-fleet@users.noreply.github.com>"
HOMEPAGE = "https://github.com/sled-fleet/sled"


@dataclass(frozen=True)
class Release:
    """What all files of a release share."""

    version: str
    epoch: int


@dataclass(frozen=True)
class Package:
    """The fields of a Debian package."""

    name: str
    architecture: str
    fields: dict[str, str]  # Depends, Description ...


def build(package: Package, tree: Path, to: Path, release: Release) -> Path:
    """Makes NAME_VERSION_ARCHITECTURE.deb of a tree that has its files, and DEBIAN/ with its scripts."""
    _documents(package, tree, release)
    control = tree / "DEBIAN"
    control.mkdir(exist_ok=True)
    files = [file for file in _walk(tree) if control not in file.parents]
    size = sum(file.lstat().st_size for file in files if not file.is_dir() or file.is_symlink())
    fields = {
        "Package": package.name,
        "Version": release.version,
        "Architecture": package.architecture,
        "Maintainer": MAINTAINER,
        "Installed-Size": str(-(-size // 1024)),
        "Section": "admin",
        "Priority": "optional",
        "Homepage": HOMEPAGE,
        **package.fields,
    }
    (control / "control").write_text("".join(f"{name}: {value}\n" for name, value in fields.items()))
    plain = [file for file in files if file.is_file() and not file.is_symlink()]
    sums = (f"{hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest()}  {_at(file, tree)}" for file in plain)
    (control / "md5sums").write_text("\n".join(sums) + "\n")
    _modes(tree, release.epoch)
    deb = to / f"{package.name}_{release.version}_{package.architecture}.deb"
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(release.epoch)}
    command = ["dpkg-deb", "--root-owner-group", "-Zxz", "-z1", "--threads-max=1", "--build", str(tree), str(deb)]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return deb


def _documents(package: Package, tree: Path, release: Release) -> None:
    folder = tree / "usr/share/doc" / package.name
    folder.mkdir(parents=True, exist_ok=True)
    date = formatdate(release.epoch)
    entry = f"{package.name} ({release.version}) stable; urgency=medium\n\n  * See CHANGELOG.md.\n\n"
    compress(folder / "changelog.gz", f"{entry} -- {MAINTAINER}  {date}\n".encode())
    compress(folder / "CHANGELOG.md.gz", (ROOT / "CHANGELOG.md").read_bytes())
    shutil.copy(ROOT / "packaging/files/copyright", folder)


def compress(file: Path, content: bytes) -> None:
    """Writes it with gzip, without name and time."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(content, mtime=0))


def _modes(tree: Path, epoch: int) -> None:
    for path in [tree, *_walk(tree)]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    for path in [tree, *_walk(tree)]:
        os.utime(path, (epoch, epoch), follow_symlinks=False)


def _walk(tree: Path) -> Iterator[Path]:
    yield from sorted(tree.rglob("*"))


def _at(file: Path, tree: Path) -> str:
    return str(file.relative_to(tree))


def archive(file: Path, entries: dict[str, Path | bytes], release: Release) -> None:
    """Writes a tar.gz of files, by their names in it."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.GNU_FORMAT) as packed:
        for name, source in sorted(entries.items()):
            content = source if isinstance(source, bytes) else source.read_bytes()
            info = tarfile.TarInfo(name)
            executable = isinstance(source, Path) and source.stat().st_mode & 0o100
            info.size, info.mtime, info.mode = len(content), release.epoch, 0o755 if executable else 0o644
            packed.addfile(info, io.BytesIO(content))
    compress(file, raw.getvalue())


def collection(to: Path, scratch: Path, release: Release) -> Path:
    """The collection of the last commit as ansible-galaxy builds it; sorted and dated, which it does not."""
    tree = scratch / "collection"
    tree.mkdir()
    packed = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", str(tree)], check=True, input=packed.stdout)
    command = ["ansible-galaxy", "collection", "build", "--output-path", str(scratch), str(tree)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    name = f"sled-fleet-{release.version}.tar.gz"
    entries: dict[str, Path | bytes] = {}
    unpacked = scratch / "unpacked"
    with tarfile.open(scratch / name) as built:
        built.extractall(unpacked, filter="tar")
    for file in _walk(unpacked):
        if file.is_file():
            entries[_at(file, unpacked)] = file
    files = json.loads((unpacked / "FILES.json").read_text())
    files["files"].sort(key=lambda one: one["name"])
    manifest = json.loads((unpacked / "MANIFEST.json").read_text())
    listing = json.dumps(files, indent=1).encode()
    manifest["file_manifest_file"]["chksum_sha256"] = hashlib.sha256(listing).hexdigest()
    entries["FILES.json"] = listing
    entries["MANIFEST.json"] = json.dumps(manifest, indent=1).encode()
    archive(to / name, entries, release)
    return to / name
