# SPDX-License-Identifier: Apache-2.0
"""Every operand of every step is read on the node: steps.yml cannot get an operand that the node ignores.

Each step runs as init runs it, in the sandbox of test/sh, with all its operands. sledc reads them, for the shell as
`sledc operand`, else in the verb itself; reads.c notes what it reads. Prints TAP.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

import program
import yaml
from tap import run_tests

TEST = Path(__file__).resolve().parents[2]
VECTORS = Path(os.environ["SLED_VECTORS"])
SLEDC = program.for_tests()
WORDS = yaml.safe_load((TEST.parents[1] / "contract/words/steps.yml").read_text(encoding="utf-8"))
KEY = VECTORS / "image/keys/test.key"
IMAGE = VECTORS / "image/ok/gaps.raw.zst"
work = Path(tempfile.mkdtemp())

# The double answers as on a node; the build for tests has read the operands before. It runs only verbs that are given a
# disk here, and that is a file.
DOUBLE = """#!/bin/sh
case $1 in
operand | disks | grow | stamp | write | attach | {verb}) SLED_TEST_READS={reads} '{sledc}' "$@" >/dev/null 2>&1 || : ;;
esac
exec "$(dirname "$0")/double" "$@"
"""
# An installed system whose kernel cannot be loaded, so that `fallback` counts.
CASE = """
system vda2 ext4
mkdir "$ROOT/run/sled" && echo secret >"$ROOT/run/sled/token"
echo kernel=/boot/vmlinuz-6.1 arguments=ro >"$ROOT/bootentry"
echo 3 >"$ROOT/fail-load" && : >"$ROOT/no-kexec"
echo 'echo 1 >"$1/pid"' >"$ROOT/payload"
step {line}
hasnt errors "unknown verb"
"""


def sledc(*words: str) -> str:
    """What it prints."""
    return subprocess.run([SLEDC, *words], capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def samples() -> dict[str, str]:
    """A value of each type."""
    image = json.loads(sledc("inspect", f"in={IMAGE}", "json=yes"))
    signed = dict(line.split(" ", 1) for line in sledc("sign", f"in={IMAGE}", f"key={KEY}", "name=debian").splitlines())
    disk = work / "disk.raw"
    disk.touch()
    os.truncate(disk, image["bytes"])
    return {
        "selector": "serial:no such disk",
        "selectors": "serial:another;serial:one more",
        "disks": "serial:no such disk;serial:another",
        "urls": f"file://{IMAGE}",
        "url": "http://127.0.0.1:1/upload/n1.raw.zst",
        "digest": image["digest"],
        "image_name": "debian",
        "statement": signed["statement"],
        "signature": signed["signature"],
        "partition": "part-label:root",
        "level": "4",
        "nodes": "8",
        "hostname": "n1.example",
        "data_name": "logs",
        "uuid": "0b5f6c1e-7a54-8c1f-9a55-1f3a0b8f6f5e",
        "stamp": "0b5f6c1e-7a54-8c1f-9a55-1f3a0b8f6f5e/7d1f0f3a-52c1-4f7e-8a54-0b5f6c1e7a54/52-54-00-77-00-01/3/7",
        "mount": "/srv/logs",
        "watchdog": "77",
        "multicast": "127.0.0.1:1",
        "job": "1kq7d2g3x9qa",
        "export": "127.0.0.1:/srv/sled/images",
        "seconds": "60",
        "keys": "ssh-ed25519 AAAA me",
        "text": "a=b c",
    }


def operands_of(step: dict[str, Any], values: dict[str, str]) -> dict[str, str]:
    """All of them, none with its default."""
    shared = [rule for name in ("disk", "image") if step.get(name) for rule in WORDS[f"{name}_operands"]]
    rules = shared + step.get("operands", [])
    given = {}
    for rule in rules:
        assert "values" in rule or rule["type"] in values, f"samples() has no value of type {rule['type']}"
        choices = [value for value in rule.get("values", []) if value != rule.get("default")]
        given[rule["name"]] = choices[0] if choices else values[rule["type"]]
    return given


def reads_of(verb: str, operands: dict[str, str]) -> list[str]:
    """Runs the step. Returns what was read, as key=value, and what the step printed."""
    sandbox = Path(tempfile.mkdtemp(dir=work))
    tools, reads, case = sandbox / "tools", sandbox / "reads", sandbox / "case"
    shutil.copytree(TEST / "sh/doubles", tools)
    (tools / "sledc").rename(tools / "double")
    (tools / "sledc").write_text(DOUBLE.format(verb=verb, reads=reads, sledc=SLEDC), encoding="utf-8")
    (tools / "sledc").chmod(0o755)
    line = " ".join([verb, *(f"{key}={quote(value, safe='-._~:/,@+;*')}" for key, value in operands.items())])
    case.write_text(CASE.format(line=f"'{line}'".replace(" ", "' '")), encoding="utf-8")
    environment = {
        **os.environ,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "ROOT": str(sandbox / "root"),
        "MOCK": "mock",
        "here": str(TEST / "sh"),
        "SLED_TEST_DISK": str(work / "disk.raw"),
        "SLED_TEST_IDLE": "0",
        "SLED_KEYS": str(KEY.with_suffix(".pub")),
    }
    done = subprocess.run(
        ["sh", "-eu", TEST / "sh/one", case],
        env=environment, capture_output=True, text=True, check=False, cwd=sandbox, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
    return reads.read_text(encoding="utf-8").splitlines() if reads.exists() else []


def test_every_operand_is_read() -> None:
    values = samples()
    missing = []
    for step in WORDS["steps"]:
        operands = operands_of(step, values)
        read = reads_of(step["verb"], operands)
        for alone in ("nfs", "partition"):  # leave others unread: those of multicast, and those behind the disk
            if alone in operands:
                whole = {key: value for key, value in operands.items() if key != alone}
                # `keep` leaves the other operands of configure unread.
                read += reads_of(step["verb"], whole | ({"system": "adapt"} if "system" in whole else {}))
        missing += [f"{step['verb']} {key}" for key, value in operands.items() if f"{key}={value}" not in read]
    assert not missing, f"nothing on the node reads these operands of the plan: {', '.join(missing)}"


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
