# SPDX-License-Identifier: Apache-2.0
"""Attacks that are not run here, and the tests that run them; they are checked to exist."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Attack, file, test.
ELSEWHERE = (
    (
        "each request of the operator API with each role, without a token and with a wrong one",
        "sledd/internal/server/token_test.go",
        "func TestRolesOfOperators(",
    ),
    (
        "300 connections with half of a body, without nginx",
        "sledd/internal/server/body_test.go",
        "func TestManyHalfSentBodiesAreClosed(",
    ),
    (
        "text of nodes in the report of a rollout",
        "sledd/internal/page/hostile_test.go",
        "func TestHostileTextIsShownCleaned(",
    ),
    ("text of nodes in a terminal", "sledd/internal/ctl/hostile_test.go", "func TestHostileTextIsPrintedCleaned("),
    (
        "text of nodes in Terraform",
        "terraform-provider/internal/node/hostile_test.go",
        "func TestHostileTextIsCleaned(",
    ),
    (
        "plans with text that would start another word or line",
        "sledd/internal/plan/vectors_test.go",
        "func TestBadVectorsAreRefused(",
    ),
    (
        "a rescue's address and host key that are shell commands",
        "sledd/internal/server/hostile_test.go",
        "func TestHostileReports(",
    ),
    (
        "facts and reasons that are templates of Ansible",
        "tests/unit/test_hostile.py",
        "def test_playbook_evaluates_nothing(",
    ),
    (
        "an address that is another machine's or an option",
        "tests/unit/test_hostile.py",
        "def test_addresses_that_are_none(",
    ),
    (
        "undeclared machines fill the store",
        "sledd/internal/server/store_test.go",
        "func TestUndeclaredMachinesFillHalfOfTheStoreAtMost(",
    ),
    ("a full store", "sledd/internal/server/store_test.go", "func TestFullStoreIsNotReadyAndHeals("),
    (
        "thousands of invented machines",
        "sledd/internal/intake/discovered_test.go",
        "func TestNewMachinesAreTakenAtARate(",
    ),
    ("tokens in logs and reports of nodes", "sledd/internal/report/hostile_test.go", "func TestTokensAreTakenOut("),
    ("disk images that refer to other files", "initrd/test/pack/test_foreign.py", "def test_crafted("),
    (
        "a disk image that takes over the program that reads it",
        "initrd/test/c/base/test_jail.py",
        "def test_files(",
    ),
    ("a container image that leads out of its folder", "tests/unit/test_image_oci.py", "def test_a_layer_stays"),
    ("an image whose files lead out of its tree", "initrd/test/border/test_border.py", "def check("),
    ("an image that mounts out of its tree", "initrd/test/border/test_mounts.py", "def test_hostile_points("),
)


def missing() -> list[str]:
    """The tests of the table that do not exist."""
    return [f"{path}: {test}" for _, path, test in ELSEWHERE if test not in (ROOT / path).read_text()]


def elsewhere() -> str:
    """The table, as the page has it."""
    rows = "".join(f"| {attack} | `{path}` |\n" for attack, path, _ in ELSEWHERE)
    return f"Other tests run these:\n\n| attack | tested by |\n|---|---|\n{rows}\n"
