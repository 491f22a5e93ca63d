#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of a release from build/ (`make release`), the same bytes for the same source.

usage: release.py OUT [KEY]

KEY is the RSA key of gpg's that signs; without it the release is marked as unsigned. The network is used for what
$SLED_CACHE has not: the sources of Debian's packages, and ansible-core.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import deb
import parts
import spdx
from parts import ROOT, Part, Piece, ReleaseError, output

BUILD = ROOT / "build"
FILES = ROOT / "packaging/files"
PLATFORMS = ("linux_amd64", "linux_arm64")
REGISTRIES = ("registry.terraform.io", "registry.opentofu.org")
COLLECTION = "usr/share/ansible/collections/ansible_collections/sled/fleet"
# Of Debian: what the playbooks need; what makes images and reaches BMCs.
NEEDED = (
    "cpio, iproute2, openssh-client, openssl, python3 (>= 3.11), python3-apt, python3-cryptography,"
    " python3-jinja2 (>= 3.1), python3-packaging, python3-resolvelib, python3-yaml"
)
RECOMMENDED = (
    "cryptsetup-bin, dosfstools, e2fsprogs, fdisk, ipmitool, mmdebstrap, mtools, partclone, qemu-utils, skopeo,"
    " squashfs-tools, uidmap, umoci, zstd"
)


class Maker:
    """The steps, each of which uses what those before it made."""

    def __init__(self, to: Path, scratch: Path) -> None:
        version = (ROOT / "VERSION").read_text().strip()
        epoch = int(output("git", "log", "-1", "--format=%ct", "--", "VERSION"))
        os.environ["SOURCE_DATE_EPOCH"] = str(epoch)
        self.to, self.scratch, self.release = to, scratch, deb.Release(version, epoch)
        self.own = parts.sled(version)
        self.man = scratch / "man"

    def program(self, name: str, platform: str = "linux_amd64") -> Path:
        """A program in Go for a platform, without symbols."""
        system, architecture = platform.split("_")
        file = self.scratch / platform / name
        settings = {"GOOS": system, "GOARCH": architecture, "CGO_ENABLED": "0", "GOAMD64": "v1", "GOARM64": "v8.0"}
        flags = f"-s -w -buildid= -X main.version={self.release.version}"
        command = ["go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", str(file)]
        subprocess.run([*command, f"./sledd/cmd/{name}"], check=True, cwd=ROOT, env={**os.environ, **settings})
        return file

    def pages(self) -> None:
        """The man pages of sledctl."""
        self.man.mkdir()
        output("go", "run", "./sledd/tools/man", self.release.version, self.man)

    def sledctl(self, platform: str) -> Path:
        """Sledctl for a platform: an archive, and a package where that is Linux."""
        program = self.program("sledctl", platform)
        system, architecture = platform.split("_")
        base = f"sledctl_{self.release.version}_{platform}"
        entries: dict[str, Path | bytes] = {f"{base}/sledctl": program, f"{base}/LICENSE": ROOT / "LICENSE"}
        entries |= {f"{base}/man/{page.name}": page for page in self.man.iterdir()}
        entries |= {f"{base}/licences/{name}": file for name, file in _texts(parts.modules([program]))}
        deb.archive(self.to / f"{base}.tar.gz", entries, self.release)
        if system == "linux":
            tree = self.scratch / f"sledctl-{architecture}"
            _copy(program, tree / "usr/bin/sledctl")
            for name, file in _texts(parts.modules([program])):
                _copy(file, tree / "usr/share/doc/sledctl/licences" / name)
            for page in self.man.iterdir():
                deb.compress(tree / f"usr/share/man/man1/{page.name}.gz", page.read_bytes())
            _copy(FILES / "sledctl.lintian", tree / "usr/share/lintian/overrides/sledctl")
            text = "command line of Sled\n Declares and images machines by the API of a Sled server."
            deb.build(deb.Package("sledctl", architecture, {"Description": text}), tree, self.to, self.release)
        return program

    def provider(self) -> list[Path]:
        """The zips and the manifest that both registries want; the programs in them."""
        programs = []
        mirror = BUILD / "share/terraform/plugins" / REGISTRIES[0] / "sled-fleet/sled"
        for file in sorted(mirror.glob(f"terraform-provider-sled_{self.release.version}_*.zip")):
            _copy(file, self.to / file.name)
            with zipfile.ZipFile(file) as packed:
                name = next(name for name in packed.namelist() if name.startswith("terraform-provider-sled"))
                programs.append(Path(packed.extract(name, self.scratch / file.stem)))
        manifest = self.to / f"terraform-provider-sled_{self.release.version}_manifest.json"
        _copy(ROOT / "terraform-provider/terraform-registry-manifest.json", manifest)
        return programs

    def ansible(self) -> Part:
        """Ansible-core, in the version and with the hash of tools/requirements-demo.txt, unpacked."""
        pinned = (ROOT / "tools/requirements-demo.txt").read_text()
        lines = re.search(r"^ansible-core==(\S+) \\\n(?:    --hash=\S+(?: \\)?\n)+", pinned, re.M)
        if not lines:
            raise ReleaseError("tools/requirements-demo.txt: no ansible-core with hashes")
        wanted = self.scratch / "requirements.txt"
        wanted.write_text(lines[0])
        options = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "-q", "--disable-pip-version-check"]
        output("pip", "download", *options, "-r", wanted, "-d", self.scratch / "wheel")
        tree = self.scratch / "python"
        with zipfile.ZipFile(next((self.scratch / "wheel").glob("*.whl"))) as wheel:
            wheel.extractall(tree)
        shutil.rmtree(tree / "ansible_test")
        text = next(tree.glob("*.dist-info/**/COPYING"))
        return Part("pypi", "ansible-core", lines[1], "GPL-3.0-or-later", (str(text),))

    def pieces(self, control: list[Path], provider: list[Path], server: Path, ansible: Part) -> list[Piece]:
        """All that is shipped, with what it is made from."""
        ipxe = BUILD / "ipxe/ipxe.deb"
        found = [
            Piece("sledd", server, parts.modules([server])),
            Piece("sledctl", control[0], parts.modules(control)),
            Piece("terraform-provider-sled", provider[0], parts.modules(provider)),
            Piece("sledc", BUILD / "bin/sledc", parts.libraries(BUILD / "obj/sledc/link.d")),
            Piece("ipxe.deb", ipxe, whole=parts.ipxe(ipxe.resolve(), self.scratch / "ipxe")),
            Piece("ansible-core", next((self.scratch / "wheel").glob("*.whl")), whole=ansible),
        ]
        for flavour in ("cloud", "generic"):
            folder = BUILD / "initrd" / flavour
            files = tuple(parts.initrd(folder, BUILD, self.own, self.scratch / "initrd"))
            found.append(Piece(f"initrd-{flavour}", folder / "initrd.img", parts.static(files), files))
            linux = parts.kernel(Path((folder / "kernel").read_text().strip()))
            found.append(Piece(f"vmlinuz-{flavour}", folder / "vmlinuz", whole=linux))
        return found

    def sled(self, server: Path, collection: Path, pieces: list[Piece], document: Path) -> None:
        """The package of a whole site."""
        tree = self.scratch / "sled"
        home = tree / "usr/lib/sled"
        _copy(server, home / "bin/sledd")
        _copy(BUILD / "bin/sledc", home / "bin/sledc")
        (home / "bin/sledctl").symlink_to("../../../bin/sledctl")
        for flavour in ("cloud", "generic"):
            for name in ("vmlinuz", "initrd.img"):
                _copy(BUILD / "initrd" / flavour / name, home / "initrd" / flavour / name)
        _copy(BUILD / "ipxe/ipxe.deb", home / "ipxe/ipxe.deb")
        shutil.copytree(self.scratch / "python", home / "python")
        _copy(document, home / "licences" / document.name)
        for name, file in _texts(spdx.parts_of(pieces)):
            _copy(file, home / "licences" / name)
        shutil.unpack_archive(collection, tree / COLLECTION, filter="tar")
        # The playbooks look for programs in build/ of their collection.
        (tree / COLLECTION / "build").symlink_to("../../../../../../lib/sled")
        self._mirror(tree / "usr/share/terraform/plugins")
        shutil.copytree(ROOT / "packaging/init", home / "init", ignore=shutil.ignore_patterns("__pycache__"))
        _copy(FILES / "sled", tree / "usr/bin/sled")
        _copy(FILES / "sled.lintian", tree / "usr/share/lintian/overrides/sled")
        for script in ("postinst", "prerm"):
            _copy(FILES / script, tree / "DEBIAN" / script)
        text = (
            "bare-metal provisioning: a whole site\n"
            " The boot server's programs, the system that nodes boot, the Ansible\n"
            " collection with ansible-core, and the Terraform provider. Installing it\n"
            " starts nothing and opens no port."
        )
        fields = {
            "Depends": f"sledctl (= {self.release.version}), {NEEDED}",
            "Recommends": RECOMMENDED,
            "Description": text,
        }
        deb.build(deb.Package("sled", "amd64", fields), tree, self.to, self.release)

    def _mirror(self, to: Path) -> None:
        first, second = (to / registry / "sled-fleet/sled" for registry in REGISTRIES)
        name = f"terraform-provider-sled_{self.release.version}_linux_amd64.zip"
        _copy(self.to / name, first / name)
        second.mkdir(parents=True)
        (second / name).symlink_to(f"../../../{REGISTRIES[0]}/sled-fleet/sled/{name}")


def _copy(source: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, to)


def _texts(of: Iterable[Part]) -> Iterator[tuple[str, Path]]:
    """The licences and notices of parts, by their place in a folder."""
    yield from ((f"{part.kind}/{part.name}/{Path(text).name}", Path(text)) for part in of for text in part.texts)


def committed() -> None:
    """Refuses a checkout with changes: the collection is of the last commit, the rest of the work tree."""
    changed = output("git", "status", "--porcelain").splitlines()
    if changed:
        raise ReleaseError(f"commit or remove first what is not in the last commit: {', '.join(changed)}")


def make(to: Path, scratch: Path) -> list[str]:
    """All files but indexes, checksums and signatures; the sources that are missing."""
    maker = Maker(to, scratch)
    maker.pages()
    control = [maker.sledctl(platform) for platform in PLATFORMS]
    provider = maker.provider()
    server = maker.program("sledd")
    pieces = maker.pieces(control, provider, server, maker.ansible())
    document = spdx.write(to, pieces, maker.release)
    maker.sled(server, deb.collection(to, scratch, maker.release), pieces, document)
    copyleft = [f"{part.name}={part.version}" for part in spdx.parts_of(pieces) if part.copyleft]
    return output(ROOT / "packaging/sources", to / "sources", *copyleft).split()


def main() -> int:
    """A release in a new directory."""
    to, key = Path(sys.argv[1]).absolute(), sys.argv[2:]
    try:
        committed()
        shutil.rmtree(to, ignore_errors=True)
        to.mkdir(parents=True)
        with tempfile.TemporaryDirectory() as scratch:
            missing = make(to, Path(scratch))
        if missing:
            (to / "INCOMPLETE").write_text("".join(f"{source}\n" for source in missing))
            if key:
                raise ReleaseError(f"not signed, as it is incomplete: no source of {', '.join(missing)}")
        subprocess.run([ROOT / "packaging/seal", to, *key], check=True)
    except (ReleaseError, subprocess.CalledProcessError) as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    if missing:
        print(f"release: incomplete, not to be published: no source of {', '.join(missing)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
