#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of variables in each role's README.md from its meta/argument_specs.yml.

It also checks that defaults/main.yml agrees.

usage: role-readme.py [--check]     --check: write nothing, exit 1 and name the files when one is stale
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import yaml

ROLES = Path(__file__).resolve().parent.parent / "roles"
BEGIN = "<!-- BEGIN variables: made by tools/role-readme.py from meta/argument_specs.yml -->"
END = "<!-- END variables -->"


def load(path: Path) -> dict[str, Any]:
    """Reads a YAML mapping; an absent or empty file is an empty one."""
    return (yaml.safe_load(path.read_text(encoding="utf-8")) or {}) if path.exists() else {}


def text(option: dict[str, Any]) -> str:
    """Description of an option on one line, with Ansible's markup as code."""
    description = option.get("description", "")
    line = " ".join(description) if isinstance(description, list) else description
    line = re.sub(r"[VOCM]\(((?:[^()]|\([^)]*\))*)\)", r"`\1`", line)
    if choices := option.get("choices"):
        line += " One of " + ", ".join(f"`{choice}`" for choice in choices) + "."
    return line.replace("|", "\\|")


def value(option: dict[str, Any]) -> str:
    """Default of an option as shown in the table."""
    if option.get("required"):
        return "**required**"
    if option.get("default") is None:
        return ""
    default = option["default"]
    return f"`{default}`" if isinstance(default, str) and default else f"`{json.dumps(default)}`"


def rows(options: dict[str, Any], prefix: str = "") -> list[str]:
    """Table rows of options, required ones first, with those of nested dictionaries below their parent."""
    lines = []
    for name, option in sorted(options.items(), key=lambda item: not item[1].get("required")):
        kind = option.get("type", "str") + (f" of {option['elements']}" if "elements" in option else "")
        lines.append(f"| `{prefix}{name}` | {kind} | {value(option)} | {text(option)} |")
        lines += rows(option.get("options", {}), f"{prefix}{name}.")
    return lines


def table(options: dict[str, Any]) -> str:
    """The whole block, marks included."""
    return "\n".join(
        [BEGIN, "", "| variable | type | default | meaning |", "|---|---|---|---|", *rows(options), "", END]
    )


def differences(role: Path, options: dict[str, Any]) -> list[str]:
    """Differences between defaults/main.yml and the argument specification.

    A default that is computed need not stand in both.
    """
    defaults = load(role / "defaults/main.yml")
    wrong = [
        f"{role.name}: {name}: in defaults/main.yml, but not in argument_specs.yml"
        for name in sorted(defaults.keys() - options.keys())
    ]
    for name, option in options.items():
        if option.get("required") and name in defaults:
            wrong.append(f"{role.name}: {name}: required by argument_specs.yml, but defaults/main.yml has a value")
        elif "default" in option and defaults.get(name) != option["default"]:
            wrong.append(
                f"{role.name}: {name}: defaults/main.yml has {defaults.get(name)!r},"
                f" argument_specs.yml {option['default']!r}"
            )
    return wrong


def main() -> int:
    """Returns 0, or 1 when something is stale or wrong."""
    wrong = []
    for specs in sorted(ROLES.glob("*/meta/argument_specs.yml")):
        role = specs.parent.parent
        options = load(specs)["argument_specs"]["main"].get("options", {})
        wrong += differences(role, options)
        readme = role / "README.md"
        before = readme.read_text(encoding="utf-8") if readme.exists() else ""
        if BEGIN not in before or END not in before:
            wrong.append(f"{readme}: the marks {BEGIN} and {END} are missing")
            continue
        head, _, rest = before.partition(BEGIN)
        after = head + table(options) + rest.partition(END)[2]
        if after != before and "--check" in sys.argv[1:]:
            wrong.append(f"{readme} is stale: make generate")
        elif after != before:
            readme.write_text(after, encoding="utf-8")
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
