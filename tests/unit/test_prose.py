# SPDX-License-Identifier: Apache-2.0
"""tools/prose.py finds what people read in each kind of source, at its line."""

import importlib.util
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]

specification = importlib.util.spec_from_file_location("prose", TREE / "tools/prose.py")
assert specification and specification.loader
prose = importlib.util.module_from_spec(specification)
specification.loader.exec_module(prose)

GO = """package a // a comment

/* two
lines */
var rune, plain, text = '"', "word", "an error message"
const raw = `a raw
string`
"""
PYTHON = '''"""A docstring
of two lines."""
import a  # a comment
call("two words", 'word', f"{value} in a string", key="a/path")
'''
SHELL = """# a comment
say "a message" 'another one' word $#
"""
YAML = """# a comment
- name: A task
  ansible.builtin.copy:
    dest: a path of words
    content: not a message
  when: x
- ansible.builtin.fail:
    msg: >-
      A folded
      message
---
options:
  a:
    description:
      - A description
      - "of an option"
"""


@pytest.mark.parametrize(
    ("path", "source", "want"),
    [
        ("a.go", GO, {1: "a comment", 3: "two", 4: "lines", 5: "an error message", 6: "a raw", 7: "string"}),
        ("a.c", 'int a; // b c\nchar *d = "e f";', {1: "b c", 2: "e f"}),
        (
            "a.py",
            PYTHON,
            {1: '"""A docstring', 2: 'of two lines."""', 3: "a comment", 4: '"two words" f"{value} in a string"'},
        ),
        ("a.sh", SHELL, {1: "a comment", 2: "a message another one"}),
        (
            "a.yml",
            YAML,
            {
                1: "a comment",
                2: "- name: A task",
                8: "msg: >-",
                9: "A folded",
                10: "message",
                15: "- A description",
                16: '- "of an option"',
            },
        ),
    ],
)
def test_texts_are_found_at_their_lines(path: str, source: str, want: dict[int, str]) -> None:
    lines = prose.texts(source, prose.READERS[Path(path).suffix]).split("\n")
    assert {number: line.strip() for number, line in enumerate(lines, 1) if line.strip()} == want


def test_code_is_left_out() -> None:
    assert prose.texts("# the `said` word, O(gives) and a", prose.in_shell).split("\n")[0].split() == [
        "the",
        "word,",
        "and",
        "a",
    ]


def test_scripts_are_known_by_their_first_line_and_tests_are_left_out() -> None:
    assert prose.reader("lab/network") is prose.in_shell
    assert prose.reader("molecule/shared/commands") is prose.in_python
    assert prose.reader("Makefile") is None
    assert prose.reader("sledd/internal/ctl/show_test.go") is None
    assert prose.reader("tests/unit/test_prose.py") is None
