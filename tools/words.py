#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes every copy of the vocabulary in contract/words/: phases, stages, steps, exit codes, the attributes of nodes,
images and bindings, and the settings of sledd.

usage: words.py [--check] [--root DIRECTORY]     --check: write nothing, exit 1 and name each stale file

A template tools/words/files/PATH.j2 writes the whole of PATH. A template tools/words/blocks/NAME.j2 writes what stands
between a line with "BEGIN words: NAME" and the next line with "END words", in any tracked file.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jinja2
import yaml

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(
    r"^(?P<begin>[^\n]*BEGIN words: (?P<name>[a-z-]+)[^\n]*\n)(?P<body>.*?)(?P<end>^[^\n]*END words)", re.M | re.S
)


# The keys of each list: one that is not here is a slip, such as a text with a comma that nobody quoted.
KEYS: dict[str, str] = {
    "phases": "name go working settled limit colour text",
    "stages": "name colour light dark text",
    "codes": "code name c text action",
    "attributes": "name go type class values default max pattern example text flag help sledctl terraform shared"
    " effect node alone",
    "node_attributes": "name go type of fields required values default min max pattern form text change example"
    " by_hand flag help value",
    "image_attributes": "name go type of fields required values default min max pattern form text change example"
    " by_hand flag help value fixed measured",
    "steps": "verb text last leaves secret disk image changes phase stage operands",
    "operands": "name type values default required text",
    "settings": "name go type default help role env when",
    "setting_roles": "type elements choices required default text",
}

# What an absent key means, by the list it is absent from.
DECLARED = {
    **dict.fromkeys(["required", "by_hand", "fixed", "measured"], False),
    **dict.fromkeys(["of", "default", "pattern", "form", "change", "example", "flag", "help", "value"], ""),
    **{"min": None, "max": None, "values": [], "fields": []},
}
DEFAULTS: dict[str, dict[str, Any]] = {
    "node_attributes": DECLARED,
    "image_attributes": DECLARED,
    "phases": {"working": False, "settled": False, "limit": 0, "colour": ""},
    "steps": dict.fromkeys(["last", "leaves", "secret", "disk", "image", "changes"], False)
    | {"phase": "", "stage": "", "operands": []},
    "operands": {"type": "", "values": [], "required": False, "default": ""},
    "settings": {"default": "", "role": {}, "env": "{}", "when": ""},
    "setting_roles": {"elements": "str", "choices": [], "required": False, "default": ""},
}


def load(root: Path) -> dict[str, Any]:
    """All words: the contents of contract/words/*.yml in one mapping."""
    words: dict[str, Any] = {}
    for path in sorted((root / "contract/words").glob("*.yml")):
        words.update(yaml.safe_load(path.read_text(encoding="utf-8")))
    for name in ("phases", "stages", "codes", "attributes", "node_attributes", "image_attributes", "steps", "settings"):
        words[name] = whole(name, words[name])
    for setting in filter(lambda one: one["role"], words["settings"]):
        kind = {"type": "list" if setting["type"] == "strings" else "str"}
        setting["role"] = whole("setting_roles", [kind | setting["role"]])[0]
    shared = ("disk", "image")
    for name in shared:
        words[f"{name}_operands"] = whole("operands", words[f"{name}_operands"])
    for step in words["steps"]:
        step["own"] = whole("operands", step["operands"])
        step["operands"] = [one for name in shared if step[name] for one in words[f"{name}_operands"]] + step["own"]
    known(words)
    return words


def whole(name: str, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The items of a list with what their absent keys mean; a key that the list does not have ends the run."""
    for item in items:
        if unknown := set(item) - set(KEYS[name].split()):
            sys.exit(f"words: {name}: {next(iter(item.values()))}: unknown key: {', '.join(sorted(unknown))}")
    nested = [{"fields": whole(name, item["fields"])} if item.get("fields") else {} for item in items]
    return [DEFAULTS.get(name, {}) | item | fields for item, fields in zip(items, nested, strict=True)]


def known(words: dict[str, Any]) -> None:
    """Ends the run when a step names a phase, a stage or a type that does not exist."""
    phases = {phase["name"] for phase in words["phases"]} | {""}
    stages = {stage["name"] for stage in words["stages"]} | {""}
    for step in words["steps"]:
        types = {operand["type"] for operand in step["operands"] if not operand["values"]}
        if step["phase"] not in phases or step["stage"] not in stages or not types <= set(words["types"]):
            sys.exit(f"words: steps: {step['verb']}: unknown phase, stage or type of an operand")


def environment(root: Path) -> jinja2.Environment:
    """How templates are rendered: a missing word is an error, and nothing is escaped."""
    loader = jinja2.FileSystemLoader(root / "tools/words")
    made = jinja2.Environment(
        loader=loader,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["quoted"] = lambda text: '"' + str(text).replace("\\", "\\\\").replace('"', '\\"') + '"'
    made.filters["plain"] = lambda text: re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", str(text)).replace("`", "")
    made.filters["camel"] = lambda text: "".join(part.capitalize() for part in re.split(r"[ _-]", str(text)))
    made.filters["zip"] = zip
    made.filters["hyphens"] = lambda text: str(text).replace("_", "-")
    return made


def formatted(path: str, text: str) -> str:
    """Generated Go as gofmt writes it."""
    if not path.endswith(".go"):
        return text
    return subprocess.run(["gofmt"], input=text, capture_output=True, text=True, check=True, timeout=60).stdout


def files(root: Path, templates: jinja2.Environment, words: dict[str, Any]) -> dict[str, str]:
    """What each generated file should hold, by its path."""
    base = root / "tools/words/files"
    paths = [str(path.relative_to(base))[: -len(".j2")] for path in sorted(base.rglob("*.j2"))]
    return {path: formatted(path, templates.get_template(f"files/{path}.j2").render(words)) for path in paths}


def marked(root: Path) -> list[str]:
    """The tracked files that hold a generated block."""
    found = subprocess.run(
        ["git", "-C", str(root), "grep", "--untracked", "-lI", "BEGIN words: "],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return [path for path in found.stdout.split() if not path.startswith("tools/words")]


def blocks(root: Path, templates: jinja2.Environment, words: dict[str, Any]) -> dict[str, str]:
    """The text of each block, by its name."""
    names = [path.stem for path in sorted((root / "tools/words/blocks").glob("*.j2"))]
    return {name: templates.get_template(f"blocks/{name}.j2").render(words) for name in names}


def filled(text: str, made: dict[str, str]) -> str:
    """The text of a file with its blocks as they should be."""

    def fill(block: re.Match[str]) -> str:
        if block["name"] not in made:
            sys.exit(f"words: {block['begin'].strip()}: tools/words/blocks/{block['name']}.j2 does not exist")
        indent = re.match("[ \t]*", block["begin"])[0]  # type: ignore[index] # it always matches
        lines = made[block["name"]].splitlines(keepends=True)
        return block["begin"] + "".join(indent + line if line.strip() else line for line in lines) + block["end"]

    return BLOCK.sub(fill, text)


def outputs(root: Path) -> dict[str, str]:
    """What each file with generated text should hold, by its path."""
    words, templates = load(root), environment(root)
    made, found = (
        blocks(root, templates, words),
        {path: (root / path).read_text(encoding="utf-8") for path in marked(root)},
    )
    used = {block["name"] for text in found.values() for block in BLOCK.finditer(text)}
    if unused := sorted(set(made) - used):
        sys.exit(f"words: no file has the block {unused[0]}: a line with BEGIN words, and one with END words")
    return files(root, templates, words) | {path: filled(text, made) for path, text in found.items()}


def stale(root: Path) -> list[str]:
    """The generated files that are not what they should be."""
    return [path for path, text in outputs(root).items() if not same(root / path, text)]


def same(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


def main() -> int:
    """Returns 0, or 1 when a file is stale."""
    parser = argparse.ArgumentParser(description="Writes every copy of the vocabulary in contract/words/.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 and name each stale file")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout (default: this one)")
    options = parser.parse_args()
    if options.check:
        found = stale(options.root)
        if found:
            print(*(f"{path} is stale: make generate" for path in found), sep="\n", file=sys.stderr)
        return 1 if found else 0
    for path, text in outputs(options.root).items():
        target = options.root / path
        if not same(target, text):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
