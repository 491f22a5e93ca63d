#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""job.py --lab DIRECTORY --node NODE --playbook WORDS [--other NODE --ssh WORDS] -- SLEDCTL...: jobs.

Run by `make bench-run` on a machine of the lab that waits in the Sled system. Roots of 5 and 79 MB are pushed to a
registry and made into images once. Then, in turns: seconds from the command to the payload's first line, CPU seconds
of its machine, and the memory that is in use by then; and the same of `podman run` over ssh on a node with an
installed system, without a cached image or page. Last, jobs in a row.
build/bench/run.json and a table.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import line, save

TREE = Path(__file__).resolve().parents[1]
REGISTRY = "10.77.0.254:5000"
ROUNDS = int(os.environ.get("ROUNDS", "5"))
IN_A_ROW = 20
PATIENCE = 1200  # seconds for one command, under emulation on a busy machine
SIZES = {"5 MB": 5_000_000, "79 MB": 79_000_000}
LIMITS = {"5 MB": 2, "79 MB": 8}  # seconds to the first line
MIB = 1 << 20
KEPT = 64 * MIB  # of memory, before fetch; and what it needs beside a file
BESIDE = 1.15
CLEAN = "podman rmi -af >/dev/null && sync && echo 3 >/proc/sys/vm/drop_caches"


@dataclass
class Run:
    """A payload that printed /proc/meminfo."""

    first: float  # seconds from the command to its first line
    cpu: float  # seconds of the emulated machine by then
    all: float  # to the end of the command
    available: int  # bytes of memory, at the first line


def started(command: list[str], cpu: Callable[[], float]) -> Run:
    """Runs a command whose payload prints /proc/meminfo. cpu: seconds of its node so far."""
    used, begin = cpu(), time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        deadline = threading.Timer(PATIENCE, process.kill)
        deadline.start()
        head = process.stdout.readline()
        first, used = time.monotonic() - begin, cpu() - used
        rest = process.stdout.read()
        process.wait()
        deadline.cancel()
    if process.returncode == -signal.SIGKILL:
        raise SystemExit(f"bench: not ended after {PATIENCE} s: {shlex.join(command)}")
    if process.returncode != 0:
        raise SystemExit(f"bench: exit {process.returncode}: {shlex.join(command)}")
    return Run(first, used, time.monotonic() - begin, int(re.findall(r"MemAvailable: +(\d+)", head + rest)[0]) * 1024)


class Bench:
    """The node, and what is measured on it."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args, self.folder, self.registry = args, Path(args.lab, "bench"), Path(args.lab, "registry")
        self.environment = {
            **os.environ,
            "SLED_REGISTRY": REGISTRY,
            "REGISTRY_AUTH_FILE": f"{self.registry}/auth.json",
            "SSL_CERT_FILE": f"{self.registry}/ca.crt",
        }
        self.files: dict[str, int] = {}  # bytes of each image

    def command(self, *words: object) -> str:
        """Runs a program; returns its standard output."""
        done = subprocess.run([str(w) for w in words], check=False, stdout=subprocess.PIPE, text=True,
                              env=self.environment, timeout=PATIENCE)  # fmt: skip
        if done.returncode != 0:
            raise SystemExit(f"bench: exit {done.returncode}: {shlex.join(map(str, words))}\n{done.stdout[-2000:]}")
        return done.stdout

    def sledctl(self, *words: str) -> Any:
        """The answer of a command of sledctl."""
        return json.loads(self.command(*self.args.sledctl, *words, "-o", "json") or "null")

    def cpu(self, node: str) -> float:
        """Seconds of CPU time of a machine."""
        return float(self.command(Path(self.args.lab, "bin/machine"), Path(self.args.lab, "nodes", node), "cpu"))

    def script(self, verb: str, *words: object) -> None:
        """Starts or stops the registry, or pushes to it."""
        self.command(TREE / "molecule/lab/registry", verb, self.registry, *words)

    def images(self) -> float:
        """Pushes the roots; returns the seconds in which all became images."""
        for name, size in SIZES.items():
            tree = self.folder / name
            (tree / "bin").mkdir(parents=True)
            shutil.copy("/bin/busybox", tree / "bin")
            (tree / "bin/cat").symlink_to("busybox")
            (tree / "data").write_bytes(os.urandom(size - (tree / "bin/busybox").stat().st_size))
            self.script("push", repository(name) + ":1", tree)
        made: list[dict[str, str]] = [
            {"name": repository(name), "kind": "root", "oci": f"{REGISTRY}/{repository(name)}:1"} for name in SIZES
        ]
        listed = self.folder / "images.yml"
        listed.write_text(json.dumps({"images": made}))
        for image in made:  # of a run before in a lab that stays
            subprocess.run([*self.args.sledctl, "image", "delete", image["name"]], capture_output=True, check=False)
        begin = time.monotonic()
        self.command(*shlex.split(self.args.playbook), TREE / "playbooks/images.yml", "-e", f"@{listed}")
        seconds = time.monotonic() - begin
        for name in SIZES:
            self.files[name] = int(self.sledctl("image", "get", repository(name))["bytes"])
        return seconds

    def run(self, name: str) -> Run:
        """A job that prints what memory there is."""
        words = ("run", self.args.node, repository(name), "--", "cat", "/proc/meminfo")
        return started([*self.args.sledctl, *words], lambda: self.cpu(self.args.node))

    def idle(self) -> int:
        """Bytes of memory that are available before a job: a root that does not fit is refused with the room for it."""
        large = next(i for i in self.sledctl("image", "list") if i["name"].startswith("debian-"))
        self.command(
            *self.args.sledctl, "image", "add", "--name=bench-large", "--kind=root", f"--url={large['urls'][0]}"
        )
        self.command(*self.args.sledctl, "image", "sign", "bench-large", f"--key={self.args.lab}/secrets/image.key")
        words = [*self.args.sledctl, "run", self.args.node, "bench-large", "--", "cat", "/proc/meminfo"]
        said = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE).stderr
        self.command(*self.args.sledctl, "image", "delete", "bench-large")
        return int(int(re.findall(r"there is room for (\d+)", said)[0]) * BESIDE) + KEPT

    def podman(self, name: str) -> Run:
        """The same image on the other node."""
        self.command(*self.args.ssh, CLEAN)
        run = "podman run --rm --network host --authfile /root/auth.json"
        words = f"{run} {REGISTRY}/{repository(name)}:1 cat /proc/meminfo"
        return started([*self.args.ssh, words], lambda: self.cpu(self.args.other))

    def compared(self) -> dict[str, list[Run]]:
        """All in turn, so that what disturbs the machine disturbs them alike."""
        ways: dict[str, tuple[Callable[[str], Run], str]] = {name: (self.run, name) for name in SIZES}
        if self.args.ssh:
            with subprocess.Popen(["tar", "-cC", self.registry, "auth.json", "ca.crt"], stdout=subprocess.PIPE) as tar:
                trusted = f"/etc/containers/certs.d/{REGISTRY}"
                put = f"mkdir -p {trusted} && tar -xC /root && mv /root/ca.crt {trusted}"
                subprocess.run([*self.args.ssh, put], stdin=tar.stdout, check=True, timeout=PATIENCE)
            ways |= {f"podman, {name}": (self.podman, name) for name in SIZES}
        found: dict[str, list[Run]] = {name: [] for name in ways}
        for number in range(ROUNDS):
            for name, (way, size) in ways.items():
                found[name].append(one := way(size))
                print(f"  round {number + 1}/{ROUNDS}  {name:<15} {one.first:6.2f} s", flush=True)
        return found

    def measure(self) -> dict[str, Any]:
        """All figures."""
        made, idle = self.images(), self.idle()
        found = self.compared()
        rows = [self.run("5 MB") for _ in range(IN_A_ROW)]
        figures = {name: summary(runs) for name, runs in found.items()}
        for name, size in self.files.items():
            figures[name] |= {"file": size, "limit": LIMITS[name], "memory_limit": int(BESIDE * size) + 24 * MIB}
            figures[name]["memory"] = idle - min(run.available for run in found[name])
        return {
            "rounds": ROUNDS, "cores": os.cpu_count(), "load": os.getloadavg(),
            "machine": f"QEMU, {self.command(TREE / 'lab/accelerator').strip()}, {idle // MIB} MiB available",
            "images_made": round(made, 1), "figures": figures,
            "in_a_row": {"jobs": IN_A_ROW, "seconds": round(sum(run.all for run in rows), 1),
                         "first": [round(run.first, 2) for run in rows],
                         "memory_lost": rows[0].available - rows[-1].available},
        }  # fmt: skip


def repository(name: str) -> str:
    """The name of a root as an image."""
    return "bench-" + name.partition(" ")[0]


def summary(runs: list[Run]) -> dict[str, Any]:
    """Medians."""
    first = [run.first for run in runs]
    return {
        "first": round(statistics.median(first), 2),
        "first_min": round(min(first), 2),
        "first_max": round(max(first), 2),
        "cpu": round(statistics.median(run.cpu for run in runs), 2),
        "all": round(statistics.median(run.all for run in runs), 2),
    }


def table(found: dict[str, Any]) -> str:
    """For a terminal."""
    rows = [["", "first line s", "range", "limit", "CPU s", "all s", "memory MiB", "limit"]]
    for name, one in found["figures"].items():
        memory = [f"{one['memory'] / MIB:.0f}", f"{one['memory_limit'] / MIB:.0f}"] if "memory" in one else ["", ""]
        rows.append([name, f"{one['first']:.2f}", f"{one['first_min']:.2f}-{one['first_max']:.2f}",
                     str(one.get("limit", "")), f"{one['cpu']:.2f}", f"{one['all']:.2f}", *memory])  # fmt: skip
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    row = found["in_a_row"]
    return "\n".join([
        *(line(one, widths) for one in rows),
        f"{row['jobs']} jobs in a row: {row['seconds']} s, first line {statistics.median(row['first']):.2f} s, "
        f"{row['memory_lost'] / MIB:.1f} MiB less memory at the last one",
        f"images made in {found['images_made']} s",
        f"{found['machine']}, {found['cores']} cores, load {found['load'][0]:.1f}",
    ])  # fmt: skip


def main() -> None:
    """Prepares, measures, writes down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("lab", "node", "playbook"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--other", help="node with podman")
    parser.add_argument("--ssh", type=shlex.split, default=[], help="words that run a command on it")
    parser.add_argument("sledctl", nargs="+")
    bench = Bench(parser.parse_args())
    shutil.rmtree(bench.folder, ignore_errors=True)
    bench.folder.mkdir()
    bench.script("start")
    try:
        found = bench.measure()
    finally:
        bench.script("stop")
    save(TREE / "build/bench/run", found)
    print(table(found))


if __name__ == "__main__":
    main()
