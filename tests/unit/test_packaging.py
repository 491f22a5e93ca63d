# SPDX-License-Identifier: Apache-2.0
"""The parts of packaging/ that need no release: equal bytes, licences, and what has none."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> ModuleType:
    monkeypatch.syspath_prepend(str(PACKAGING))
    for name in ("licences", "parts", "deb"):
        sys.modules.pop(name, None)
    return importlib.import_module(str(request.param))


@pytest.mark.parametrize("module", ["deb"], indirect=True)
def test_packages_and_archives_have_the_same_bytes(module: ModuleType, tmp_path: Path) -> None:
    release = module.Release("1.2.3", 1_700_000_000)
    package = module.Package("example", "all", {"Description": "an example"})
    made: list[tuple[str, bytes, bytes]] = []
    for place in ("one", "another place"):
        tree, to = tmp_path / place / "tree", tmp_path / place
        for name in ("b", "a") if place == "one" else ("a", "b"):
            (tree / name).mkdir(parents=True)
            (tree / name / "file").write_text(name)
        os.utime(tree / "a/file", (len(made), len(made)))
        (tree / "a/file").chmod(0o600 if made else 0o644)
        deb = module.build(package, tree, to, release)
        module.archive(to / "archive.tar.gz", {"b": tree / "b/file", "a": b"text"}, release)
        made.append((deb.name, deb.read_bytes(), (to / "archive.tar.gz").read_bytes()))
    assert made[0] == made[1]
    assert made[0][0] == "example_1.2.3_all.deb"


@pytest.mark.parametrize("module", ["licences"], indirect=True)
@pytest.mark.parametrize(
    ("text", "licence"),
    [
        ("Permission is hereby granted, free of\ncharge, to any person", "MIT"),
        ("Redistributions in binary form must reproduce ... Neither the name of", "BSD-3-Clause"),
        ("Redistributions in binary form must reproduce", "BSD-2-Clause"),
        ("Apache License\n   Version 2.0, January 2004", "Apache-2.0"),
        ("Mozilla Public License, version 2.0", "MPL-2.0"),
        ("all rights reserved", ""),
    ],
)
def test_licence_of_a_text(module: ModuleType, text: str, licence: str) -> None:
    assert module.of_text(text) == licence


@pytest.mark.parametrize("module", ["parts"], indirect=True)
def test_source_is_needed_only_if_every_choice_wants_it(module: ModuleType) -> None:
    for licence, needed in [
        ("GPL-2.0-only", True),
        ("LGPL-2.1-or-later AND BSD-3-Clause", True),
        ("LGPL-3.0-or-later OR GPL-2.0-or-later", True),
        ("BSD-3-Clause OR GPL-2.0-only", False),
        ("MIT", False),
    ]:
        assert module.Part("deb", "x", "1", licence).copyleft is needed


@pytest.mark.parametrize("module", ["parts"], indirect=True)
def test_what_has_no_licence_ends_the_release(module: ModuleType) -> None:
    with pytest.raises(module.ReleaseError, match=r"unheard-of: no licence is known: add it to packaging/licences.txt"):
        module.debian("unheard-of", "1", "/usr/share/doc/unheard-of/copyright")


@pytest.mark.parametrize("module", ["parts"], indirect=True)
def test_a_damaged_initrd_ends_the_release(module: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("of the Sled system")
    listed = subprocess.run(
        ["cpio", "-o", "-H", "newc"], cwd=tmp_path, input=b"file\n", capture_output=True, check=True
    )
    packed = subprocess.run(["zstd", "-c"], input=listed.stdout, capture_output=True, check=True).stdout
    image = tmp_path / "initrd.img"
    for padding in range(4):
        image.write_bytes(packed + bytes(padding))
        assert module.unpack(image, tmp_path / str(padding)) == ["/file"]
    image.write_bytes(packed[:-1] + bytes([packed[-1] ^ 1]))  # of the checksum, behind the content
    with pytest.raises(module.ReleaseError, match=r"initrd.img: .*checksum"):
        module.unpack(image, tmp_path / "damaged")
