# SPDX-License-Identifier: Apache-2.0
"""What the release is made from: Go modules, static libraries of C, and each file of the initrds."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import licences

ROOT = Path(__file__).resolve().parents[1]


class ReleaseError(Exception):
    """Something is missing, or of unknown origin."""


@dataclass(frozen=True, order=True)
class Part:
    """A package of others, in the version that is shipped."""

    kind: str  # of a package URL: deb, golang, pypi; generic: Sled itself
    name: str  # of Debian's source package, of a Go module
    version: str
    licence: str  # an SPDX expression
    texts: tuple[str, ...] = field(default=(), compare=False)  # files with licences and notices, on this machine

    @property
    def copyleft(self) -> bool:
        """Whether its licence requires the source beside the binary."""
        return self.kind == "deb" and all("GPL" in choice for choice in self.licence.split(" OR "))


@dataclass(frozen=True)
class Piece:
    """What is shipped, and the parts of which it is made: linked statically, or contained as files."""

    name: str
    file: Path
    linked: tuple[Part, ...] = ()
    files: tuple[tuple[str, str, Part], ...] = ()  # path, SHA-1, part
    whole: Part | None = None  # another's package, shipped as it is


def output(*command: str | Path, cwd: Path = ROOT) -> str:
    """The output of a command."""
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, cwd=cwd).stdout


def sled(version: str) -> Part:
    """Sled's own files."""
    return Part("generic", "sled", version, "Apache-2.0", (str(ROOT / "LICENSE"),))


# Debian


def debian(source: str, version: str, text: str) -> Part:
    """A source package of Debian."""
    licence = licences.of_debian(source)
    if not licence:
        raise ReleaseError(f"{source}: no licence is known: add it to packaging/licences.txt, from {text}")
    return Part("deb", source, version, licence, (text,))


@cache
def of_package(package: str) -> Part:
    """The source of an installed package."""
    source, version = output("dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", package).split()
    return debian(source, version, f"/usr/share/doc/{package.partition(':')[0]}/copyright")


@cache
def _installed() -> dict[str, list[tuple[str, str]]]:
    """Of each base name, the installed files and their packages. dpkg-query -S takes seconds for one."""
    found: dict[str, list[tuple[str, str]]] = {}
    for listing in sorted(Path("/var/lib/dpkg/info").glob("*.list")):
        for line in listing.read_text().splitlines():
            found.setdefault(line.rpartition("/")[2], []).append((line, listing.stem))
    return found


def owner(path: str, read: Callable[[Path], object], value: object) -> str:
    """The installed package that has the file: of that base name, and of which the caller reads that value."""
    for file, package in _installed().get(Path(path).name, []):
        if Path(file).is_file() and read(Path(file)) == value:
            return package
    raise ReleaseError(f"{path}: no installed package has this file: if it is of an initrd, run `make initrd` again")


@cache
def built_using(package: str) -> tuple[Part, ...]:
    """What an installed program has linked statically, by its package."""
    field = output("dpkg-query", "-W", "-f", "${Built-Using}", package)
    pairs = re.findall(r"(\S+) \(= (\S+)\)", field)
    return tuple(debian(source, version, f"/usr/share/doc/{package}/copyright") for source, version in pairs)


def kernel(folder: Path) -> Part:
    """The source of a kernel that initrd/tools/kernel unpacked: the signed package is made from another."""
    package, _, version = folder.name.partition("_")
    shown = output("apt-cache", "show", f"{package}={version}")
    built = re.search(r"^Built-Using: linux \(= (\S+)\)", shown, re.M)
    return debian("linux", built[1] if built else version, "/usr/share/doc/linux-libc-dev/copyright")


def ipxe(deb: Path, texts: Path) -> Part:
    """The package with iPXE, whose licence is in it."""
    subprocess.run(["dpkg-deb", "-x", deb, texts], check=True)
    return debian("ipxe", output("dpkg-deb", "-f", deb, "Version").strip(), str(texts / "usr/share/doc/ipxe/copyright"))


# Programs


def libraries(linked: Path) -> tuple[Part, ...]:
    """The sources of the static libraries in the linker's list of what it read."""
    words = linked.read_text().replace("\\\n", " ").split()
    parts = set()
    for word in words:
        if not word.startswith("/") or not word.endswith((".a", ".o")):
            continue
        parts.add(of_package(owner(word, Path.resolve, Path(word).resolve())))
    return tuple(sorted(parts))


def modules(binaries: Iterable[Path]) -> tuple[Part, ...]:
    """The Go modules in programs, and Go's own library."""
    cached = Path(output("go", "env", "GOMODCACHE").strip())
    parts = set()
    for binary in binaries:
        lines = [line.split() for line in output("go", "version", "-m", binary).splitlines()]
        go = lines[0][-1]
        root = Path(output("go", "env", "GOROOT").strip())
        parts.add(Part("golang", "std", go.removeprefix("go"), "BSD-3-Clause", (str(root / "LICENSE"),)))
        for words in lines:
            if words[0] in ("dep", "=>"):
                parts.add(_module(cached, words[1], words[2]))
    return tuple(sorted(parts))


@cache
def _module(cached: Path, name: str, version: str) -> Part:
    folder = cached / re.sub(r"[A-Z]", lambda found: "!" + found[0].lower(), f"{name}@{version}")
    texts = sorted(file for file in folder.iterdir() if re.match(r"(?i)(licen[cs]e|copying|notice|patents)", file.name))
    licence = next((found for file in texts if (found := licences.of_text(file.read_text()))), "")
    if not licence:
        raise ReleaseError(f"{name} {version}: no known licence in {folder}")
    return Part("golang", name, version, licence, tuple(map(str, texts)))


# Initrds


def _decompressed(image: Path) -> bytes:
    """What zstd compressed; at most three bytes of padding follow it, and its last bytes may be zero too."""
    packed = image.read_bytes()
    for padding in range(4):
        done = subprocess.run(["zstd", "-dcq"], input=packed[: len(packed) - padding], capture_output=True, check=False)
        if done.returncode == 0:
            return done.stdout
        if not packed.endswith(bytes(padding + 1)):
            break
    raise ReleaseError(f"{image}: {done.stderr.decode().strip()}")


def unpack(image: Path, to: Path) -> list[str]:
    """Unpacks an initrd; its files without links, as absolute paths."""
    to.mkdir(parents=True)
    command = ["cpio", "-i", "-m", "--quiet", "--no-absolute-filenames"]
    subprocess.run(command, check=True, cwd=to, input=_decompressed(image))
    found = (file for file in to.rglob("*") if file.is_file() and not file.is_symlink())
    return sorted("/" + str(file.relative_to(to)) for file in found)


def initrd(flavour: Path, build: Path, own: Part, scratch: Path) -> Iterator[tuple[str, str, Part]]:
    """Each file of an initrd with its SHA-1 and part. A file belongs to the package that has the same bytes."""
    linux = kernel(Path((flavour / "kernel").read_text().strip()))
    ours = {_digest(file) for file in _own_files(build)}
    tree = scratch / flavour.name
    for path in unpack(flavour / "initrd.img", tree):
        file = tree / path[1:]
        digest = _digest(file)
        if path.startswith("/lib/modules/"):
            part = linux
        elif digest in ours or path == "/etc/sled/build-clock":
            part = own
        else:
            part = of_package(owner(path, _digest, digest))
        yield path, hashlib.sha1(file.read_bytes(), usedforsecurity=False).hexdigest(), part


def _own_files(build: Path) -> Iterator[Path]:
    yield from (file for file in (ROOT / "initrd").rglob("*") if file.is_file())
    yield from (build / "bin/sledc", build / "lib/libcrypto.so.3")


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def static(pieces: Iterable[tuple[str, str, Part]]) -> tuple[Part, ...]:
    """What the programs of an initrd have linked statically, by Debian's packages."""
    packages = {"busybox-static", "crun"} if any(path == "/bin/busybox" for path, _, _ in pieces) else set()
    return tuple(sorted({part for package in packages for part in built_using(package)}))
