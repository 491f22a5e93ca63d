# SPDX-License-Identifier: Apache-2.0
"""The reference reader of signatures against every vector of the contract."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.sled.fleet.contract.reader import signing
from ansible_collections.sled.fleet.contract.vectors import cases

VECTORS = Path(__file__).parents[2] / "contract/vectors"
OK, BAD = cases.read("signing/ok"), cases.read("signing/bad")
CASES = {**OK, **BAD}


def code_of(text: bytes) -> tuple[int, int]:
    """The exit code that the vector demands, and that of the reader."""
    lines = [line.split(" ", 1) for line in text.decode("utf-8").split("\n")[:-1]]
    one = {word: value for word, value in lines if word != "floor"}
    wanted = int(one.pop("code"))
    floor = "".join(f"{value}\n" for word, value in lines if word == "floor")
    try:
        signing.check(signing.Claim(**one), signing.read_keys(VECTORS / "image/keys/both.pub"), floor)
    except signing.Refused as refused:
        return wanted, refused.code
    return wanted, 0


@pytest.mark.parametrize("name", CASES)
def test_vector(name: str) -> None:
    wanted, code = code_of(CASES[name])
    assert code == wanted
    assert (wanted == 0) == (name in OK)


def test_every_vector_is_read() -> None:
    assert len(CASES) == len(OK) + len(BAD) > 80


def test_keys_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "none.pem").write_text("nothing")
    with pytest.raises(ValueError, match="not Ed25519"):
        signing.read_keys(tmp_path / "none.pem")
