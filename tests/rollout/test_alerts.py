# SPDX-License-Identifier: Apache-2.0
"""Debian's Prometheus with the rules of monitoring/ beside sledd and a fleet: alerts are raised, and resolve."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from ansible_collections.sled.fleet.tests.rollout.fleet import TOKEN, TREE, Fleet, free_port, wait_for

RULES = TREE / "monitoring/rules.yml"


class Prometheus:
    """Scrapes a fleet's sledd each second."""

    def __init__(self, fleet: Fleet) -> None:
        folder, self.address = fleet.folder / "prometheus", f"127.0.0.1:{free_port()}"
        folder.mkdir()
        # It waits a second where a site waits minutes, and for a rollout only until sledd tells that it is silent.
        rules = re.sub(r"for: \d+m", "for: 1s", RULES.read_text()).replace("[2m]", "[10s]").replace("> 180", "> 0")
        (folder / "rules.yml").write_text(rules)
        scrape = {
            "job_name": "sledd",
            "scheme": "https",
            "tls_config": {"ca_file": str(fleet.folder / "ca.crt")},
            "authorization": {"credentials": TOKEN},
            "static_configs": [{"targets": [fleet.url.removeprefix("https://")]}],
        }
        pace = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        config = {"global": pace, "rule_files": ["rules.yml"], "scrape_configs": [scrape]}
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        command = ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
        with (folder / "log").open("wb") as log:
            self._process = subprocess.Popen([*command, f"--web.listen-address={self.address}"], stdout=log, stderr=log)

    def end(self) -> None:
        """Ends it."""
        self._process.terminate()
        self._process.wait(60)

    def firing(self) -> set[str]:
        """The names of the alerts that are raised; none while it starts."""
        try:
            with urllib.request.urlopen(f"http://{self.address}/api/v1/alerts", timeout=10) as answer:
                alerts = json.load(answer)["data"]["alerts"]
        except (urllib.error.URLError, ConnectionError):
            return set()
        return {one["labels"]["alertname"] for one in alerts if one["state"] == "firing"}

    def raises(self, name: str) -> None:
        """Waits for an alert."""
        wait_for(f"{name} to be raised", lambda: name in self.firing())

    def resolves(self, name: str) -> None:
        """Waits for its end."""
        wait_for(f"{name} to resolve", lambda: name not in self.firing())


@pytest.fixture
def watched(fleet_of: Callable[..., Fleet]) -> Iterator[tuple[Fleet, Prometheus]]:
    fleet = fleet_of(40)
    prometheus = Prometheus(fleet)
    yield fleet, prometheus
    prometheus.end()


def valid(folder: Path, days: int) -> None:
    """Makes the certificate that is shown valid for so many days."""
    command = ["openssl", "req", "-x509", "-key", "ca.key", "-days", str(days), "-subj", "/CN=127.0.0.1"]
    subprocess.run([*command, "-out", "new.crt"], check=True, capture_output=True, timeout=30, cwd=folder)
    shutil.move(folder / "new.crt", folder / "shown.crt")


def test_alerts_are_raised_and_resolve(watched: tuple[Fleet, Prometheus]) -> None:
    fleet, prometheus = watched
    prometheus.raises("SledBackupOld")  # there has been none
    valid(fleet.folder, 10)
    prometheus.raises("SledCertificateExpires")
    valid(fleet.folder, 400)
    prometheus.resolves("SledCertificateExpires")

    fleet.set("n1", fail={"step": "write", "code": 1, "times": 1, "reason": "no space"})
    playbook = fleet.play("-e", "image=v1", rollout={"batch": "50%"})
    prometheus.raises("SledNodesFailed")
    fleet.interrupt(playbook, signal.SIGKILL, lambda: True)
    prometheus.raises("SledRolloutSilent")
    fleet.set("n1")
    assert fleet.run("-e", "image=v1", rollout={"batch": "50%"}).code == 0
    for name in ("SledNodesFailed", "SledRolloutSilent"):
        prometheus.resolves(name)

    fleet.kill_sledd()
    prometheus.raises("SleddDown")
    fleet.start_sledd()
    wait_for("all but the backup to be as it should", lambda: prometheus.firing() == {"SledBackupOld"})


def test_prometheus_finds_no_fault_in_the_metrics(fleet_of: Callable[..., Fleet]) -> None:
    fleet = fleet_of(2)
    command = ["curl", "-sS", "--cacert", str(fleet.folder / "ca.crt"), "-H", f"Authorization: Bearer {TOKEN}"]
    text = subprocess.run([*command, f"{fleet.url}/metrics"], check=True, capture_output=True, timeout=60).stdout
    checked = subprocess.run(["promtool", "check", "metrics"], check=False, input=text, capture_output=True)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, b"")
    for name in set(re.findall(r"sledd_\w+", RULES.read_text())):
        assert re.search(rb"^%s\b" % name.encode(), text, re.MULTILINE), f"{name} is in the rules alone"
