# SPDX-License-Identifier: Apache-2.0
"""The alerts of monitoring/: each is tested, and has a section in the guide."""

from __future__ import annotations

import subprocess
from pathlib import Path

import yaml

TREE = Path(__file__).resolve().parents[2]
RULES = yaml.safe_load((TREE / "monitoring/rules.yml").read_text())["groups"][0]["rules"]


def test_rules_do_what_their_tests_say() -> None:
    command = ["promtool", "test", "rules", str(TREE / "monitoring/tests.yml")]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    tested = (TREE / "monitoring/tests.yml").read_text()
    assert [rule["alert"] for rule in RULES if f'alertname="{rule["alert"]}"' not in tested] == []


def test_each_alert_leads_to_its_section() -> None:
    page = (TREE / "docs/monitoring.md").read_text()
    sections = [line.removeprefix("### ") for line in page.splitlines() if line.startswith("### ")]
    assert sections == [rule["alert"] for rule in RULES]
    for rule in RULES:
        assert rule["annotations"]["runbook_url"].endswith(f"docs/monitoring.md#{rule['alert'].lower()}")
