#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""terraform.py OUT: what plans and applies of many machines cost, with every CLI that is found.

Run by `make bench-terraform`, which builds provider and sledd.

OUT.json and a table. CPU seconds are those of the CLI and the provider together; those of sledd stand apart. `bytes` is
the size of the state. SIZES=bindings:10000 measures less.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from fleet import TOKEN, Sledd, mac
from measure import Contestant, figures_table, run, save, summary

ROUNDS = int(os.environ.get("ROUNDS", "1"))
SIZES = os.environ.get("SIZES", "binding:1 binding:1000 bindings:1000 bindings:10000").split()
OLD, NEW = "debian-12-v1", "debian-12-v2"
CLI_CONFIG = """\
provider_installation {{
  dev_overrides {{ "sled-fleet/sled" = "{directory}" }}
}}
"""
HEAD = """\
terraform {
  required_providers {
    sled = { source = "sled-fleet/sled" }
  }
}

locals {
  images = jsondecode(file("images.json"))
}

"""
BODIES = {
    "binding": """\
resource "sled_binding" "node" {
  for_each = local.images
  node     = each.key
  image    = each.value
}
""",
    "bindings": """\
resource "sled_bindings" "all" {
  name   = "bench"
  images = local.images
}
""",
}
PROVIDER = Path("build/bench/provider")  # a folder with the binary
SETTINGS = {"TF_CLI_CONFIG_FILE": "/dev/null", "CHECKPOINT_DISABLE": "1"}
STEPS = {  # name: the image that is declared for all, and the command
    "plan": (OLD, "plan"),
    "apply": (OLD, "apply -auto-approve"),
    "re-plan": (OLD, "plan -detailed-exitcode"),  # fails when there is anything to do
    "update": (NEW, "apply -auto-approve"),
    "destroy": (NEW, "destroy -auto-approve"),
}


class Case:
    """One CLI with so many machines, in a separate directory."""

    def __init__(self, cli: str, resource: str, count: int, home: Path) -> None:
        self.cli, self.resource, self.count = cli, resource, count
        self.name = f"{Path(cli).name} {resource} {count}"
        self.home = home / self.name.replace(" ", "-")
        self.steps = {step: Contestant(f"{self.name} {step}", "") for step in STEPS}
        self.sledd_cpu: dict[str, list[float]] = {step: [] for step in STEPS}

    def measure(self, server: Sledd) -> None:
        """Each step once, from nothing to nothing."""
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir()
        (self.home / "cli.tfrc").write_text(CLI_CONFIG.format(directory=PROVIDER.resolve()), encoding="ascii")
        (self.home / "main.tf").write_text(HEAD + BODIES[self.resource], encoding="ascii")
        for step, (image, command) in STEPS.items():
            images = {mac(i): image for i in range(self.count)}
            (self.home / "images.json").write_text(json.dumps(images), encoding="ascii")
            one, before = self.steps[step], server.cpu()
            one.runs.append(run(self._line(server, command)))
            self.sledd_cpu[step].append(round(server.cpu() - before, 2))
            one.sent = self._state()
            last = one.runs[-1]
            print(
                f"  {one.name:<32} {last.wall:7.2f} s wall {last.cpu:7.2f} s CPU,"
                f" sledd {self.sledd_cpu[step][-1]:.2f} s",
                flush=True,
            )

    def _line(self, server: Sledd, command: str) -> str:
        settings = SETTINGS | {
            "SLED_SERVER": server.url,
            "SLED_TOKEN": TOKEN,
            "TF_CLI_CONFIG_FILE": str(self.home / "cli.tfrc"),
        }
        environment = " ".join(f"{name}={shlex.quote(value)}" for name, value in settings.items())
        cli = f"{environment} {shlex.quote(self.cli)}"
        return f"cd {shlex.quote(str(self.home))} && {cli} {command} -no-color -input=false >out"

    def _state(self) -> int:
        state = self.home / "terraform.tfstate"
        return state.stat().st_size if state.exists() else 0

    def figures(self) -> dict[str, dict[str, object]]:
        """Of each step."""
        return {step: summary(one) | {"sledd_cpu": max(self.sledd_cpu[step])} for step, one in self.steps.items()}


def main() -> None:
    """Measures all cases of one number of nodes on one sledd, one after the other."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: terminated"))  # and sledd ends too
    out = Path(sys.argv[1])
    found = [path for path in (shutil.which("terraform"), shutil.which("tofu")) if path]
    if not found:
        sys.exit("bench: neither terraform nor tofu is on PATH")
    wanted = [(resource, int(count)) for resource, count in (size.split(":") for size in SIZES)]
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        cases = [Case(cli, *size, home) for size in wanted for cli in found]
        for count in sorted({count for _, count in wanted}):
            with Sledd(count, (OLD, NEW)) as server:
                for _ in range(ROUNDS):
                    for case in cases:
                        if case.count == count:
                            case.measure(server)
    report(out, found, cases)


def report(out: Path, found: list[str], cases: list[Case]) -> None:
    """JSON, table."""
    versions = {Path(cli).name: version(cli) for cli in found}
    figures = {case.name: case.figures() for case in cases}
    save(out, {"rounds": ROUNDS, "cores": os.cpu_count(), "versions": versions, "cases": figures})
    flat = {f"{name} {step}": one for name, steps in figures.items() for step, one in steps.items()}
    print(figures_table(flat, {}, "MB state"))


def version(cli: str) -> str:
    """Of a CLI."""
    answer = subprocess.run([cli, "version", "-json"], check=True, capture_output=True, env=os.environ | SETTINGS)
    return str(json.loads(answer.stdout)["terraform_version"])


if __name__ == "__main__":
    main()
