# SPDX-License-Identifier: Apache-2.0
"""What a malicious node might report (contract/vectors/report/hostile), and nodes of the API that are full of it.

sledd refuses or cleans much of this. The consumers are tested with all of it as it is: they must not depend on that.
"""

from __future__ import annotations

from itertools import cycle
from urllib.parse import unquote

from ansible_collections.sled.fleet.contract.vectors import cases
from ansible_collections.sled.fleet.plugins.module_utils.client import Json

ADDRESS = "10.77.0.50"  # the only one in the vectors that may become the address of a node
FILE = "PWNED"  # is written by any command that is run


def texts(report: bytes) -> list[str]:
    """All values of a report, as text of JSON."""
    values = []
    for line in report.decode("ascii").splitlines()[1:]:
        for pair in line.split(" ")[1:]:
            key, equals, value = pair.partition("=")
            if equals and key not in ("step", "of", "verb", "code", "seconds", "mac"):
                values.append(unquote(value, errors="replace"))
    return values


def vectors() -> dict[str, list[str]]:
    """The values of each vector, by its name."""
    reports = cases.read("report/hostile/accepted") | cases.read("report/hostile/refused")
    logs = {name: [log.decode(errors="replace")] for name, log in cases.read("report/hostile/text").items()}
    return {name: texts(report) for name, report in reports.items()} | logs


def claims(node: Json, values: list[str]) -> Json:
    """Who claims to be a node, with the values wherever that has text of a machine."""
    text = cycle(values)
    hello = {key: next(text) for key in ("boot", "nic", "uuid", "serial", "system")}
    claim = {"hello": hello, "link": "same", "evidence": [], "since": "2026-11-21T23:00:00Z"}
    claim |= {key: next(text) for key in ("code", "address", "holder")}
    incumbent = {**claim, "level": "expected", "by": next(text)}
    return {"mac": node["mac"], "node": node["name"], "state": "contested", "required": "expected",
            "claims": [claim, claim], "incumbent": incumbent, "alarms": []}  # fmt: skip


def fill(node: Json, values: list[str]) -> None:
    """Puts the values of a vector wherever a node of the API has text of the machine."""
    text = cycle(values)
    keys = (
        "id", "version", "kernel", "machine_id", "boot_id", "boot_order", "boot_current", "host_key", "address",
        "lacks",
    )  # fmt: skip
    node["status"] |= {
        "address": next((value for value in values if value == ADDRESS), values[0]),
        "phase": "failed", "generation": 1, "code": 5, "verb": "write", "reason": next(text), "detail": next(text),
        "os": {key: next(text) for key in keys},
    }  # fmt: skip
    node["rescue"] = {key: next(text) for key in ("address", "host_key", "fingerprint", "reason")}
    node["binding"] = {"generation": 1, "image": "v1", "satisfied": False}
    parts = {part: {"vendor": next(text), "serial": next(text)} for part in ("kernel", "cpu", "firmware", "dmi")}
    devices = [{"name": value, "mac": node["mac"], "address": value, "serial": value} for value in values]
    partitions = [{"disk": value, "label": value, "uuid": value} for value in values]
    hardware = {"disks": devices, "nics": devices, "partitions": partitions}
    node["facts"] = {"boot_id": next(text), **parts, **hardware}
