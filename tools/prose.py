#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the language of what people read outside of pages, by the rules in tools/vale.

usage: prose.py [FILE...]     default: all sources except tests

Read are comments, strings of several words, and in YAML the names, messages and descriptions. Each source becomes a
file of texts with the same lines, so the lines that Vale prints are those of the source.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
TEST = re.compile(r"(^|/)tests?/|(^|/)test_|_test\.|/testdata/|/vectors/|\.gen\.")
# Keys of YAML whose values people read.
TEXTS = {"description", "fail_msg", "help", "msg", "name", "returned", "short_description", "text"}

Text = tuple[int, str]  # line in the source, from 0, and the text

C_LIKE = re.compile(
    r"""//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/|'(?:\\.|[^'\\\n])+'|"(?P<string>(?:\\.|[^"\\\n])*)"|`(?P<raw>[^`]*)`""",
    re.S,
)
SHELL = re.compile(r"""(?:^|(?<=\s))\#(?P<line>[^\n]*)|"(?P<string>(?:\\.|[^"\\])*)"|'(?P<raw>[^']*)'""", re.M)
YAML_COMMENT = re.compile(r"(?:^|(?<=\s))#(?P<line>[^\n]*)", re.M)


def matches(pattern: re.Pattern[str], source: str) -> Iterator[Text]:
    for match in pattern.finditer(source):
        for kind in ("line", "block", "string", "raw"):
            text = match.groupdict().get(kind)
            if text is not None and (kind in ("line", "block") or several_words(text)):
                yield source.count("\n", 0, match.start(kind)), text


def several_words(text: str) -> bool:
    """Whether a string is one that people read, by its words."""
    return len(re.findall(r"(?<!\S)[A-Za-z][a-z']*[,.:;]?(?!\S)", text)) > 1


def in_python(source: str) -> Iterator[Text]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        name = tokenize.tok_name[token.type]
        if name == "COMMENT" or (name in ("STRING", "FSTRING_MIDDLE") and several_words(token.string.strip("bfr\"'"))):
            yield token.start[0] - 1, token.string.lstrip("#")


def in_yaml(source: str) -> Iterator[Text]:
    yield from matches(YAML_COMMENT, source)
    lines = source.splitlines()
    for document in yaml.compose_all(source):
        for value in values(document):
            if several_words(value.value):
                begin, end = value.start_mark, value.end_mark
                yield begin.line, "\n".join(lines[begin.line : end.line + (end.column > 0)])


def values(node: yaml.Node | None) -> Iterator[yaml.ScalarNode]:
    """The scalars below a node that people read."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from values(item)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if getattr(key, "value", "") in TEXTS:
                yield from (item for item in getattr(value, "value", []) if isinstance(item, yaml.ScalarNode))
                if isinstance(value, yaml.ScalarNode):
                    yield value
            yield from values(value)


def in_c(source: str) -> Iterator[Text]:
    return matches(C_LIKE, source)


def in_shell(source: str) -> Iterator[Text]:
    return matches(SHELL, source)


READERS: dict[str, Callable[[str], Iterator[Text]]] = {
    ".c": in_c,
    ".go": in_c,
    ".h": in_c,
    ".py": in_python,
    ".sh": in_shell,
    ".yml": in_yaml,
    "python3": in_python,
    "bash": in_shell,
    "sh": in_shell,
}


def reader(path: str) -> Callable[[str], Iterator[Text]] | None:
    """How the texts of a file are found, by its suffix, or by its first line if it is a script; None: not at all."""
    file = ROOT / path
    if TEST.search(path) or file.is_symlink() or not file.is_file():
        return None
    if file.suffix or not os.access(file, os.X_OK):
        return READERS.get(file.suffix)
    with file.open("rb") as script:
        first = re.split(rb"[/ ]", script.readline(80).strip())[-1]
    return READERS.get(first.decode(errors="replace"))


def texts(source: str, read: Callable[[str], Iterator[Text]]) -> str:
    """The texts of a source, each at its line, without code in backticks and markup of Ansible."""
    lines = [""] * (source.count("\n") + 2)
    for at, text in read(source):
        for number, line in enumerate(text.split("\n")):
            lines[at + number] += " " + line.strip()
    return "\n".join(re.sub(r"`[^`]*`|\b[CVO]\([^)]*\)|\\[nt]", " ", line) for line in lines)


def main() -> int:
    """Returns the exit code of Vale."""
    parser = argparse.ArgumentParser(description="Checks the language of comments, messages and descriptions.")
    parser.add_argument("files", nargs="*", metavar="FILE", help="default: all sources except tests")
    files = parser.parse_args().files or listed()
    with tempfile.TemporaryDirectory() as folder:
        for path in files:
            if read := reader(path):
                copy = Path(folder, f"{path}.txt")
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(texts((ROOT / path).read_text(encoding="utf-8"), read), encoding="utf-8")
        vale = ["vale", f"--config={ROOT / '.vale.ini'}", "--output=line", "."]
        result = subprocess.run(vale, cwd=folder, stdout=subprocess.PIPE, text=True, check=False, timeout=300)
    print(re.sub(r"\.txt(?=:\d+:\d+:)", "", result.stdout), end="")
    return result.returncode


def listed() -> list[str]:
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout.splitlines()


if __name__ == "__main__":
    sys.exit(main())
