# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import subprocess
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[2] / "molecule/shared"


def tokens(*files: Path) -> subprocess.CompletedProcess[str]:
    command = [str(SHARED / "credentials"), "tokens", *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)


@pytest.mark.parametrize(
    "token",
    [
        "sledb_525400770001_1_" + "ab" * 32,
        "sledc_525400770001_0_" + "0" * 64,
        "sledu_" + "f" * 64,
    ],
)
def test_tokens_are_found_in_binary_files(tmp_path: Path, token: str) -> None:
    (tmp_path / "db").write_bytes(b"\0\xff" + token.encode() + b"\0")
    found = tokens(tmp_path)
    assert found.returncode == 1 and f"{tmp_path}/db" in found.stderr and token not in found.stderr + found.stdout


def test_what_holds_no_token(tmp_path: Path) -> None:
    assert tokens(tmp_path).returncode == 1, "nothing was searched"
    (tmp_path / "log").write_text("sledd_rival_time sledb_(token) sled: claim K7QF-2M9D\n" + "ab" * 32)
    found = tokens(tmp_path)
    assert (found.returncode, found.stdout) == (0, f"credentials: no token in 1 files of {tmp_path}\n")


def test_answers_of_each_object(monkeypatch: pytest.MonkeyPatch) -> None:
    loader = SourceFileLoader("answers", str(SHARED / "answers"))
    spec = spec_from_loader("answers", loader)
    assert spec
    answers: Any = module_from_spec(spec)
    loader.exec_module(answers)
    described = json.loads((SHARED.parents[1] / "contract/openapi.json").read_text())
    node = {"mac": "52:54:00:77:00:01", "name": "n1", "id": "1kq7d2g3r9qa"}

    def get(self: Any, path: str) -> str:
        return json.dumps(described if path == "/openapi.json" else {"items": [node]})

    monkeypatch.setattr(answers.Api, "get", get)
    found = answers.Api("http://127.0.0.1", "", "").paths()
    readable = [path for path, methods in described["paths"].items() if "get" in methods]
    assert len(found) == len(readable) - 4, "all but the stream, the backup, and two files"
    assert "/v1/nodes/52%3A54%3A00%3A77%3A00%3A01/console" in found and "/v1/images/n1" in found
    assert "/v1/summary?by=label%3Arack" in found, "a parameter that is required has its example"
