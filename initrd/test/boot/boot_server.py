# SPDX-License-Identifier: Apache-2.0
"""A boot server for tests of the Sled system: a real sledd, with certificates and with the site's own initrd."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any


def free_port() -> int:
    """A TCP port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(what: str, seconds: float, fact: Callable[[], Any]) -> Any:
    """Returns what `fact` does as soon as that is true; raises TimeoutError that names what was waited for."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := fact():
            return found
        time.sleep(0.2)
    raise TimeoutError(f"waited {seconds:.0f} s for {what}")


def openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def certificates(folder: Path, address: str) -> None:
    """A CA, and a server certificate for the address by which nodes know this machine."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1")
    openssl(folder, "req", "-x509", *key, "-subj", "/CN=boot test", "-keyout", "ca.key", "-out", "ca.crt")
    names = f"subjectAltName=IP:{address},IP:127.0.0.1"
    openssl(
        folder, "req", *key[:-2], "-subj", "/CN=sledd", "-addext", names, "-keyout", "server.key", "-out", "server.csr"
    )
    sign = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-copy_extensions", "copy", "-days", "1")
    openssl(folder, "x509", "-req", "-in", "server.csr", *sign, "-out", "server.crt")


def image_key(folder: Path) -> None:
    """The key that the site's images are signed with."""
    openssl(folder, "genpkey", "-algorithm", "ed25519", "-out", "image.key")
    openssl(folder, "pkey", "-in", "image.key", "-pubout", "-out", "image.pub")


class Server:
    """A sledd of our own, and its operator API."""

    def __init__(
        self, program: Path, folder: Path, mac: str, address: str, listen: str = "127.0.0.1", **more: str
    ) -> None:
        self.mac = mac
        self.port = free_port()
        self.url = f"https://{listen}:{self.port}"
        self.context = ssl.create_default_context(cafile=str(folder / "ca.crt"))
        self.token = "boot-test-" + os.urandom(16).hex()
        (folder / "admin.token").write_text(self.token)
        self.log = (folder / "sledd.log").open("wb")
        options = {
            "--listen": f"{listen}:{self.port}",
            "--data-dir": str(folder / "etcd"),
            "--boot-url": f"http://{address}",
            "--node-urls": f"https://{address}:{self.port}",
            "--admin-token-file": str(folder / "admin.token"),
            "--tls-cert": str(folder / "server.crt"),
            "--tls-key": str(folder / "server.key"),
            **{f"--{name.replace('_', '-')}": value for name, value in more.items()},
        }
        self.process = subprocess.Popen(
            [program, *(word for pair in options.items() for word in pair)], stdout=self.log, stderr=self.log
        )

    def call(self, method: str, path: str, body: Any = None) -> bytes:
        """Answer of one request; raises on any other than 2xx."""
        request = urllib.request.Request(self.url + path, method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        if body is not None:
            request.add_header("Content-Type", "application/json")
            request.data = json.dumps(body).encode()
        with urllib.request.urlopen(request, timeout=10, context=self.context) as answer:
            return bytes(answer.read())

    def ready(self) -> bool:
        """Whether it answers."""
        try:
            return bool(self.call("GET", "/readyz") or True)
        except OSError:
            return False

    def is_known(self) -> bool:
        """Whether sledd knows the machine: a boot script alone makes nothing known."""
        nodes = json.loads(self.call("GET", "/v1/nodes"))["items"] or []
        return any(node["mac"] == self.mac for node in nodes)

    def node(self) -> dict[str, Any]:
        """What sledd knows of the machine."""
        return dict(json.loads(self.call("GET", f"/v1/nodes/{self.mac}")))

    def events(self) -> list[dict[str, Any]]:
        """What happened to the machine, the newest first."""
        return list(json.loads(self.call("GET", f"/v1/nodes/{self.mac}/events?limit=500"))["items"] or [])

    def kernel_arguments(self) -> str:
        """Those of the boot script that sledd writes for the node."""
        script = self.call("GET", f"/boot/{self.mac.replace(':', '-')}.ipxe").decode()
        assert "sledb_" not in script and "sled.token" not in script, script
        words = next(word for line in script.splitlines() if "sled.mac=" in line for word in [line.split()])
        return " ".join(word for word in words if word.startswith(("sled.", "console=", "BOOTIF=")))

    def admit(self, console: Path) -> None:
        """Reads the claim code on the console of the machine, as a person does, and admits it."""

        def code() -> str:
            found = re.findall(r"^sled: claim (\S+)\r?$", console.read_text(errors="replace"), re.MULTILINE)
            return str(found[-1]) if found else ""

        shown = wait_for("a claim code on the console", 600, code)
        plans = [event for event in self.events() if event["kind"] in ("plan", "claim")]
        assert plans and plans[0]["kind"] == "claim", plans
        self.call("POST", f"/v1/nodes/{self.mac}/admit", {"code": shown})

        def admitted() -> bool:
            incumbent = json.loads(self.call("GET", f"/v1/nodes/{self.mac}/admission")).get("incumbent") or {}
            return incumbent.get("code") == shown and incumbent["level"] == "proven"

        wait_for("the admission", 120, admitted)


def appended(archive: Path, tree: Path, to: Path) -> Path:
    """An initrd with the files of a folder behind it, which win over its own."""
    names = "".join(f"{path.relative_to(tree)}\n" for path in sorted(tree.rglob("*")))
    words = ["cpio", "-o", "-H", "newc", "--quiet", "-R", "0:0"]
    more = subprocess.run(words, cwd=tree, input=names.encode(), capture_output=True, check=True).stdout
    to.write_bytes(archive.read_bytes() + more)
    return to


def initrd(system: Path, folder: Path) -> Path:
    """The initrd of a flavour with the site's own files behind it, as role initrd makes it."""
    site = folder / "site/etc/sled"
    site.mkdir(parents=True, exist_ok=True)
    for name in ("ca.crt", "image.pub"):
        shutil.copy(folder / name, site)
    (site / "clock").write_text(f"{int(time.time())}\n")
    return appended(system / "initrd.img", folder / "site", folder / "initrd.img")


def packed(out: Path, folder: Path, disk: Path, name: str) -> tuple[Path, dict[str, Any]]:
    """A signed image of the disk, and what sledd is to know of it besides its URL."""
    image, sledc = folder / "disk.raw.zst", out / "bin/sledc"

    def output(*words: str) -> str:
        return subprocess.run([sledc, *words], check=True, stdout=subprocess.PIPE, text=True).stdout

    with Path(disk).open("rb") as file:
        is_bare = file.read(512)[510:] != b"\x55\xaa"  # pack wants to be told that it is a disk
    words = ["sector=512"] if is_bare else []
    spec = dict(json.loads(output("pack", f"in={disk}", f"out={image}", "json=yes", *words)))
    lines = output("sign", f"in={image}", f"name={name}", f"key={folder}/image.key").splitlines()
    signed = dict(line.split(" ", 1) for line in lines)
    return image, {"name": name, **spec, "statement": signed["statement"], "signature": signed["signature"]}


def installed(server: Server, image: dict[str, Any], system: str, way: str, **node: str) -> None:
    """A binding to the waiting machine ends in a system that was started that way, and says itself what it is."""
    server.call("PUT", f"/v1/nodes/{server.mac}", {"mac": server.mac, "name": "n1", "disk": "serial:BOOT-1", **node})
    server.call("PUT", f"/v1/images/{image['name']}", image)
    server.call("PUT", "/v1/bindings/n1", {"node": "n1", "image": image["name"], "boot": way})

    def status() -> Any:
        state = server.node()["status"]
        assert state["phase"] != "failed", server.call("GET", f"/v1/nodes/{server.mac}/log").decode()
        return state["phase"] == "operational" and state

    state = wait_for("the installed system", 900, status)
    assert state["os"]["id"] == system and state["os"]["start"] == way.replace("reboot", "firmware"), state
    ended = [
        (event["verb"], event.get("code", 0))
        for event in sorted(server.events(), key=lambda e: e["id"])
        if event["kind"] == "end"
    ]
    assert ended[-4:] == [("wipe", 0), ("write", 0), ("configure", 0), (way, 0)], ended


def end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(30)
