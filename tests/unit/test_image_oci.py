# SPDX-License-Identifier: Apache-2.0
"""Root filesystems of container images, from a registry with TLS and a password."""

from __future__ import annotations

import getpass
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import socket
import subprocess
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FILES = Path(__file__).resolve().parents[2] / "roles/image/files"
CREATED = 1700000000
PASSWORD = "s3cret"
HASHED = "sled:$2b$04$PNTQPWRrdRo6aWPVLcfzReu7S6kwLeD4vn1V3MCOsXt2Pjsx7ANL6\n"
PROGRAMS = ("docker-registry", "skopeo", "umoci", "mksquashfs", "unsquashfs", "newuidmap")
Ended = subprocess.CompletedProcess[str]


class Layout:
    """An image in a folder, as the image-spec has it, of one layer."""

    def __init__(self, folder: Path, architecture: str = "amd64", user: str = "app") -> None:
        self.folder, self.architecture, self.user = folder, architecture, user
        self.entries: list[tuple[tarfile.TarInfo, bytes]] = []
        self.add("etc/passwd", b"app:x:1000:33::/srv:/bin/sh\n")
        self.add("usr/bin/app", b"program", mode=0o4755, uid=1000, gid=33)

    def add(self, name: str, content: bytes = b"", **about: Any) -> None:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mtime = len(content), CREATED - 5
        for key, value in about.items():
            setattr(entry, key, value)
        self.entries.append((entry, content))

    def _blob(self, content: bytes) -> dict[str, Any]:
        digest = hashlib.sha256(content).hexdigest()
        (self.folder / "blobs/sha256").mkdir(parents=True, exist_ok=True)
        (self.folder / "blobs/sha256" / digest).write_bytes(content)
        return {"digest": f"sha256:{digest}", "size": len(content)}

    def write(self) -> str:
        layer = io.BytesIO()
        with tarfile.open(fileobj=layer, mode="w") as tar:
            for entry, content in self.entries:
                tar.addfile(entry, io.BytesIO(content))
        kind = "application/vnd.oci.image."
        config = {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(CREATED)),
            "architecture": self.architecture,
            "os": "linux",
            "config": {"User": self.user, "Entrypoint": ["/usr/bin/app"], "Cmd": ["a b"], "WorkingDir": "/srv"},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer.getvalue()).hexdigest()}"]},
        }
        manifest = {
            "schemaVersion": 2,
            "config": {"mediaType": f"{kind}config.v1+json", **self._blob(json.dumps(config).encode())},
            "layers": [
                {"mediaType": f"{kind}layer.v1.tar+gzip", **self._blob(gzip.compress(layer.getvalue(), mtime=0))}
            ],
        }
        one = {"mediaType": f"{kind}manifest.v1+json", **self._blob(json.dumps(manifest).encode())}
        index = [{**one, "annotations": {"org.opencontainers.image.ref.name": "t"}}]
        (self.folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": index}))
        (self.folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
        return f"oci:{self.folder}:t"


def run(*command: str | Path, **environment: str) -> Ended:
    return subprocess.run(
        [*map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **environment},
    )


class Registry:
    """Debian's docker-registry on loopback."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.host = f"127.0.0.1:{free.getsockname()[1]}"
        self.folder, self.home = folder, folder / "home"
        certificates = self.home / ".config/containers/certs.d" / self.host
        certificates.mkdir(parents=True)
        key, certificate = folder / "key", certificates / "ca.crt"
        made = [
            "-keyout",
            str(key),
            "-out",
            str(certificate),
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-subj",
            "/CN=registry",
        ]
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *made).check_returncode()
        (folder / "htpasswd").write_text(HASHED)
        config = {
            "version": 0.1,
            "storage": {"filesystem": {"rootdirectory": str(folder / "store")}},
            "http": {"addr": self.host, "tls": {"certificate": str(certificate), "key": str(key)}},
            "auth": {"htpasswd": {"realm": "r", "path": str(folder / "htpasswd")}},
        }
        (folder / "config.yml").write_text(json.dumps(config))
        self.log = (folder / "log").open("w")
        self.process = subprocess.Popen(
            ["docker-registry", "serve", folder / "config.yml"], stdout=self.log, stderr=self.log
        )
        self.authfile, self.environment = folder / "auth.json", {"HOME": str(self.home)}
        self.environment["REGISTRY_AUTH_FILE"] = str(self.authfile)
        end = time.monotonic() + 30
        while (said := self.login(PASSWORD)).returncode:
            assert time.monotonic() < end, said.stderr + (folder / "log").read_text()
            time.sleep(0.05)

    def login(self, password: str) -> Ended:
        return run("skopeo", "login", "-u", "sled", "-p", password, self.host, **self.environment)

    def push(self, layout: Layout, name: str, *arguments: str) -> str:
        target = f"docker://{self.host}/{name}"
        run("skopeo", "copy", *arguments, layout.write(), target, **self.environment).check_returncode()
        return f"{self.host}/{name}"

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)
        self.log.close()


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    missing = [one for one in PROGRAMS if not shutil.which(one)]
    if not re.search(f"^{getpass.getuser()}:", Path("/etc/subuid").read_text(), re.M):
        missing.append("a range of subordinate users")
    if missing:
        pytest.skip(f"make setup installs {', '.join(missing)}")
    running = Registry(tmp_path_factory.mktemp("registry"))
    yield running
    running.stop()


def make(registry: Registry, reference: str, out: Path, architecture: str = "x86_64") -> Ended:
    found = run(FILES / "oci", "digest", reference, architecture, **registry.environment)
    if found.returncode:
        return found
    digest = found.stdout.strip()
    return run(FILES / "oci", "root", reference, digest, architecture, "3", out, **registry.environment)


def test_one_manifest_makes_the_same_bytes(registry: Registry, tmp_path: Path) -> None:
    layout = Layout(tmp_path / "layout")
    for name, push in (("a/app:1", []), ("a/app:2", ["--format", "v2s2"])):
        reference = registry.push(layout, name, *push)
        ended = make(registry, reference, tmp_path / name[-1])
        assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes(), "whatever the type of its manifest"
    listed = run("unsquashfs", "-lln", tmp_path / "1", TZ="UTC").stdout
    assert "-rwsr-xr-x 1000/33                   7 2023-11-14 22:13 squashfs-root/usr/bin/app\n" in listed
    assert listed.count("2023-11-14 22:13") == listed.count("squashfs-root"), "no time is later than the image"
    about = json.loads((tmp_path / "1.json").read_text())
    assert re.fullmatch(f"{registry.host}/a/app@sha256:[0-9a-f]{{64}}", about["reference"])
    assert about["config"]["config"]["Entrypoint"] == ["/usr/bin/app"]
    assert about["config"]["config"]["Cmd"] == ["a b"]
    process = about["runtime"]["process"]
    assert (process["user"], process["cwd"]) == ({"uid": 1000, "gid": 33}, "/srv")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["1", "1.json", "2", "2.json", "layout"]


def test_a_moved_tag_is_the_image_that_was_asked_for(registry: Registry, tmp_path: Path) -> None:
    reference = registry.push(Layout(tmp_path / "first"), "moved:1")
    digest = run(FILES / "oci", "digest", reference, "x86_64", **registry.environment).stdout.strip()
    other = Layout(tmp_path / "second")
    other.add("later")
    registry.push(other, "moved:1")
    out = tmp_path / "out"
    ended = run(FILES / "oci", "root", reference, digest, "x86_64", "3", out, **registry.environment)
    assert ended.returncode == 0, ended.stderr
    assert "later" not in run("unsquashfs", "-l", out).stdout


@pytest.mark.parametrize(
    ("name", "about", "words"),
    [
        ("arm", {"architecture": "arm64"}, "it is for linux arm64, not for linux amd64"),
        ("nobody", {"user": "nobody"}, "nobody"),
    ],
)
def test_an_image_that_cannot_be_used(
    registry: Registry, tmp_path: Path, name: str, about: dict[str, str], words: str
) -> None:
    ended = make(registry, registry.push(Layout(tmp_path / "layout", **about), name), tmp_path / "out")
    assert ended.returncode != 0
    assert words in ended.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["layout"], "nothing is left"


def test_what_the_registry_refuses(registry: Registry, tmp_path: Path) -> None:
    assert "manifest unknown" in make(registry, f"{registry.host}/none:1", tmp_path / "out").stderr
    assert "letters, digits" in make(registry, f'{registry.host}/a"b', tmp_path / "out").stderr
    reference = registry.push(Layout(tmp_path / "layout"), "secret:1")
    token = registry.authfile.read_text()
    registry.authfile.write_text(token.replace('"auth": "', '"auth": "c2xlZDp3cm9uZw==", "was": "'))
    try:
        ended = make(registry, reference, tmp_path / "out")
    finally:
        registry.authfile.write_text(token)
    assert "unauthorized" in ended.stderr


def test_a_flipped_layer_is_refused(registry: Registry, tmp_path: Path) -> None:
    layout = Layout(tmp_path / "layout")
    layout.add("flipped", os.urandom(100))
    reference = registry.push(layout, "flipped:1")
    layers = [one for one in (tmp_path / "layout/blobs/sha256").iterdir() if one.read_bytes()[:2] == b"\x1f\x8b"]
    stored = next((registry.folder / "store").glob(f"**/{layers[0].name}/data"))
    damaged = bytearray(stored.read_bytes())
    damaged[-20] ^= 1
    stored.write_bytes(damaged)
    ended = make(registry, reference, tmp_path / "out")
    assert ended.returncode != 0
    assert "igest did not match" in ended.stderr


def test_a_layer_stays_in_its_folder(registry: Registry, tmp_path: Path) -> None:
    layout = Layout(tmp_path / "layout")
    layout.add("up", type=tarfile.SYMTYPE, linkname="../../../../../../../..")
    layout.add("up/data/escaped", b"x")
    layout.add("../../../escaped", b"x")
    ended = make(registry, layout.write(), tmp_path / "out")
    assert ended.returncode == 0, ended.stderr
    assert sorted(one.name for one in tmp_path.iterdir()) == ["layout", "out", "out.json"]
    assert "squashfs-root/data/escaped" in run("unsquashfs", "-l", tmp_path / "out").stdout


def test_confined(registry: Registry, tmp_path: Path) -> None:
    def says(script: str) -> str:
        return run(FILES / "confined", tmp_path, "sh", "-c", f"exec 2>&1; {script}").stdout

    assert set(says("ls /").split()) <= {"bin", "lib", "lib32", "lib64", "old", "proc", "sbin", "usr", "data"}
    assert says("ls /old /proc").split() == ["/old:", "/proc:"]
    assert "Read-only file system" in says("touch /usr/x")
    assert says("touch /data/x; echo $$") == "1\n"
    assert (tmp_path / "x").exists()
    port = registry.host.rpartition(":")[2]
    assert "unreachable" in says(
        f"/usr/bin/python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}))'"
    )
