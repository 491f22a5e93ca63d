# SPDX-License-Identifier: Apache-2.0
"""The vocabulary with one word left out, and what the generator then writes."""

from __future__ import annotations

import functools
import importlib.util
import itertools
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

TREE = Path(__file__).resolve().parents[2]

# The lists, and the key that names an item of each; and the key by which a step uses an item of two of them.
ATTRIBUTES = ("attributes", "node_attributes", "image_attributes")
KEY = {"phases": "name", "stages": "name", "steps": "verb", "codes": "name", **dict.fromkeys(ATTRIBUTES, "name")}
USE = {"phases": "phase", "stages": "stage"}

Item = dict[str, Any]
Fewer = tuple[str, str, Item]  # name of a list, a word of it, the vocabulary without that word


def tool() -> ModuleType:
    """tools/words.py, loaded afresh."""
    spec = importlib.util.spec_from_file_location("words", TREE / "tools/words.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def words() -> Item:
    """The vocabulary of this checkout."""
    loaded: Item = tool().load(TREE)
    return loaded


def names(name: str) -> list[str]:
    """The words of a list."""
    return [item[KEY[name]] for item in words()[name]]


def without(items: list[Item], key: str, word: str) -> list[Item]:
    """The items but one."""
    return [item for item in items if item[key] != word]


def replaced(items: list[Item], old: Item, new: Item) -> list[Item]:
    """The items with another one in the place of old."""
    return [new if item is old else item for item in items]


def fewer_items() -> Iterator[Fewer]:
    """Leaves out one phase, stage, step, attribute or code. A step that used it uses none."""
    for name, key in KEY.items():
        for item in words()[name]:
            left = words() | {name: without(words()[name], key, item[key])}
            if use := USE.get(name):
                left["steps"] = [step | ({use: ""} if step[use] == item[key] else {}) for step in words()["steps"]]
            yield name, item[key], left


def fewer_values() -> Iterator[Fewer]:
    """Leaves out one value of an attribute."""
    for name in ATTRIBUTES:
        for attribute in words()[name]:
            for value in attribute.get("values", []):
                poorer = attribute | {"values": [other for other in attribute["values"] if other != value]}
                left = words() | {name: replaced(words()[name], attribute, poorer)}
                yield f"values of {name}", f"{attribute['name']}: {value}", left


def fewer_operands() -> Iterator[Fewer]:
    """Leaves out one operand of a step."""
    for step in words()["steps"]:
        for operand in step["own"]:
            left = {key: without(step[key], "name", operand["name"]) for key in ("own", "operands")}
            yield "operands", f"{step['verb']}: {operand['name']}", with_step(step, left)


def fewer_operand_values() -> Iterator[Fewer]:
    """Leaves out one value of an operand."""
    for step in words()["steps"]:
        for operand, value in [(one, value) for one in step["own"] for value in one["values"]]:
            poorer = operand | {"values": [other for other in operand["values"] if other != value]}
            left = {key: replaced(step[key], operand, poorer) for key in ("own", "operands")}
            yield "values of operands", f"{step['verb']}: {operand['name']}: {value}", with_step(step, left)


def with_step(step: Item, changes: Item) -> Item:
    """The vocabulary with one step changed."""
    return words() | {"steps": replaced(words()["steps"], step, step | changes)}


def all_fewer() -> Iterator[Fewer]:
    """Leaves out each word in turn."""
    return itertools.chain(fewer_items(), fewer_values(), fewer_operands(), fewer_operand_values())


class Outputs:
    """What the generator writes. Go is not formatted, which makes it quick."""

    def __init__(self) -> None:
        self.tool = tool()
        self.tool.formatted = lambda _, text: text  # type: ignore[attr-defined]
        self.templates = self.tool.environment(TREE)
        self.marked = {path: (TREE / path).read_text(encoding="utf-8") for path in self.tool.marked(TREE)}
        self.whole = self.of(words())
        # By list and path: what the copy is without each word that it holds.
        self.poorer: dict[tuple[str, str], dict[str, str]] = {}
        for name, word, left in all_fewer():
            for path, text in self.of(left).items():
                if text != self.whole[path]:
                    self.poorer.setdefault((name, path), {})[word] = text

    def of(self, vocabulary: Item) -> dict[str, str]:
        """The text of every output, by its path."""
        blocks = self.tool.blocks(TREE, self.templates, vocabulary)
        filled = {path: self.tool.filled(text, blocks) for path, text in self.marked.items()}
        return {**self.tool.files(TREE, self.templates, vocabulary), **filled}
