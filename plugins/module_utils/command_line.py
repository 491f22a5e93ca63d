# SPDX-License-Identifier: Apache-2.0
"""The command that started a playbook, without what may be secret in it: sledd shows it, so that others can resume."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import PurePath

# Variables of the playbooks, none of which is a secret. Others are left with their names.
KNOWN = frozenset(
    (
        "image",
        "again",
        "mode",
        "verify",
        "wipe",
        "boot",
        "transport",
        "allow_unsigned",
        "handover",
        "on_drift",
        "sled_rollout",
        "sled_max_wipes",
        "sled_max_reimages",
        "sled_server",
        "sled_ca_file",
        "sled_token_file",
    )
)
HIDDEN = "..."
MOST = 64  # words
SHORT = re.compile(r"(-[A-Za-z]*?e)(.*)", re.DOTALL)  # -e, -eNAME=VALUE, -ve


def shown(arguments: Sequence[str]) -> list[str]:
    """The words of a command, as sledd may store them; none, if there are too many."""
    words = [PurePath(arguments[0]).name, *_words(arguments[1:])]
    return words if len(words) <= MOST and max(map(len, words)) <= 1024 else []


def _words(arguments: Sequence[str]) -> Iterator[str]:
    follows = False
    for word in arguments:
        name, equals, value = word.partition("=")
        if follows:
            follows = False
            yield _variables(word)
        elif len(name) > 2 and "--extra-vars".startswith(name):
            follows = not equals
            yield f"{name}={_variables(value)}" if equals else name
        elif short := SHORT.fullmatch(word):
            follows = not short[2]
            yield short[1] + (_variables(short[2]) if short[2] else "")
        else:
            yield word


def _variables(text: str) -> str:
    if text.startswith("@"):  # a file
        return text
    try:
        given = json.loads(text)
    except ValueError:
        return " ".join(_pair(pair) for pair in _pairs(text))
    if not isinstance(given, dict):
        return HIDDEN
    return json.dumps({name: value if name in KNOWN else HIDDEN for name, value in given.items()})


def _pairs(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return [HIDDEN]


def _pair(pair: str) -> str:
    name, equals, value = pair.partition("=")
    if not equals:
        return HIDDEN
    return f"{name}={shlex.quote(value) if name in KNOWN else HIDDEN}"
