# SPDX-License-Identifier: Apache-2.0
"""A fleet whose machines are in one process, each behind a BMC of its own address on loopback that speaks Redfish."""

from __future__ import annotations

import hashlib
import json
import ssl
import subprocess
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.power.drivers import make
from ansible_collections.sled.fleet.tests.rollout.fleet import BIN, Fleet, free_port


def good(node: str) -> Json:
    """How a BMC behaves that answers at once and does what it says."""
    return {}


class Rack(Fleet):
    """`bmc`: how the BMC of a node behaves, as `bmc` of a double's settings."""

    def __init__(
        self,
        folder: Path,
        count: int,
        racks: int,
        bmc: Callable[[str], Json] = good,
        terms: Json | None = None,
        **rest: Any,
    ) -> None:
        self._bmc, self._port, self.buttons, self._terms = bmc, free_port(), free_port(), terms or {}
        self._process: subprocess.Popen[str] | None = None
        self.addresses = {f"n{i + 1}": f"127.77.{i >> 8}.{i & 255}" for i in range(count)}
        super().__init__(folder, count, racks, **rest)
        certificate = ssl.PEM_cert_to_DER_cert((folder / "ca.crt").read_text())
        self._fingerprint = hashlib.sha256(certificate).hexdigest()

    def begin(self) -> None:
        """The same, and the BMCs listen."""
        self.declare()
        self.begin_bmcs()

    def declare(self) -> None:
        """The same without the BMCs, whose machines are set once they listen."""
        super().begin()

    def begin_bmcs(self) -> None:
        """Starts the process of the BMCs and machines."""
        words = ["rack", str(self.doubles), f"--port={self._port}", f"--buttons={self.buttons}", *self._tls()]
        self._process = subprocess.Popen([str(BIN / "sled-double"), *words], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        with self._process.stdout as output:  # it says nothing else
            said = output.readline()
        assert said == f"{len(self.nodes)} BMCs listen\n", said

    def _tls(self) -> list[str]:
        return [f"--tls-cert={self.folder / 'ca.crt'}", f"--tls-key={self.folder / 'ca.key'}"]

    def set(self, node: str | None, ssh_fault: str = "", **settings: Any) -> None:
        """The same, with the BMC."""
        if node is not None:
            settings = {"bmc": {"address": self.addresses[node], **self._bmc(node)}, **settings}
        super().set(node, ssh_fault, **settings)

    def control(self, node: str) -> Json:
        """Where its BMC is, and what else this one has of its own."""
        mine = self._control(node)
        return {f"power_{name}": value for name, value in mine.items() if self._shared().get(name) != value}

    def controls(self) -> Json:
        """Those of the BMCs."""
        return {f"power_{name}": value for name, value in self._shared().items()} | self._terms

    def _control(self, node: str) -> Json:
        return {**self._shared(), "address": self.addresses[node]}

    def _shared(self) -> Json:
        about = {"driver": "redfish", "port": self._port, "username": "sled", "password": "sled"}
        return {**about, "fingerprint": self._fingerprint, "networks": ["127.77.0.0/16"]}

    def power(self, node: str, *words: str) -> str:
        """Asks the BMC."""
        driver = make(node, self._control(node))
        for verb in ("off", "on") if words[0] == "cycle" else words:
            getattr(driver, verb)()
        return driver.status()

    def cut_power(self) -> None:
        """Ends all of them at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(60)

    def seen(self, node: str) -> Json:
        """What the BMC of a node has counted."""
        context = ssl.create_default_context(cafile=str(self.folder / "ca.crt"))
        context.check_hostname = False
        url = f"https://{self.addresses[node]}:{self._port}/double"
        with urllib.request.urlopen(url, timeout=60, context=context) as answer:
            found: Json = json.load(answer)
        return found
