# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.sled.fleet.plugins.module_utils import signing
from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SettingsError
from ansible_collections.sled.fleet.plugins.modules import image
from ansible_collections.sled.fleet.tests.unit.double import Sledd
from ansible_collections.sled.fleet.tests.unit.test_objects import IMAGE

Run = Callable[..., Json]
DIGEST = "sha256:" + "5e" * 32


def openssl(*command: str | Path) -> None:
    subprocess.run(["openssl", *command], check=True, capture_output=True, timeout=30)


def make_key(folder: Path, name: str = "image", kind: str = "ed25519") -> str:
    """A key as the role image makes it."""
    options = ["-pkeyopt", "ec_paramgen_curve:P-256"] if kind == "EC" else []
    openssl("genpkey", "-algorithm", kind, *options, "-out", folder / f"{name}.key")
    openssl("pkey", "-in", folder / f"{name}.key", "-pubout", "-out", folder / f"{name}.pub")
    return str(folder / f"{name}.key")


def test_another_implementation_accepts_the_signature(tmp_path: Path) -> None:
    signature = signing.sign(make_key(tmp_path), DIGEST)
    (tmp_path / "signature").write_bytes(base64.b64decode(signature))
    (tmp_path / "signed").write_bytes(b"sled-image-1:" + b"\x5e" * 32)
    files: list[str | Path] = [
        "-inkey",
        tmp_path / "image.pub",
        "-sigfile",
        tmp_path / "signature",
        "-in",
        tmp_path / "signed",
    ]
    openssl("pkeyutl", "-verify", "-pubin", "-rawin", *files)
    (tmp_path / "signed").write_bytes(b"sled-image-1:" + b"\x5f" * 32)
    with pytest.raises(subprocess.CalledProcessError):
        openssl("pkeyutl", "-verify", "-pubin", "-rawin", *files)


def test_what_cannot_sign_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = make_key(tmp_path)
    with pytest.raises(SettingsError, match="No such file"):
        signing.sign(str(tmp_path / "none"), DIGEST)
    with pytest.raises(SettingsError, match=r"image\.pub: "):
        signing.sign(str(tmp_path / "image.pub"), DIGEST)
    with pytest.raises(SettingsError, match="is not an Ed25519 key"):
        signing.sign(make_key(tmp_path, "other", "EC"), DIGEST)
    with pytest.raises(SettingsError, match="64 hexadecimal digits"):
        signing.sign(key, DIGEST.upper())
    monkeypatch.setattr(signing, "HAVE_CRYPTOGRAPHY", False)
    with pytest.raises(SettingsError, match="cryptography"):
        signing.sign(key, DIGEST)


def test_a_registered_image_is_signed_later_and_by_another_key(sledd: Sledd, module: Run, tmp_path: Path) -> None:
    old, new = make_key(tmp_path, "old"), make_key(tmp_path, "new")
    assert "signature" not in module(image, **IMAGE)["image"]
    predicted = module(image, name=IMAGE["name"], key=old, check=True)
    assert predicted["changed"]
    assert "signature" not in sledd.objects["images"][IMAGE["name"]]
    first = module(image, name=IMAGE["name"], key=old)
    assert first["image"]["signature"] == predicted["image"]["signature"] == signing.sign(old, IMAGE["digest"])
    assert not module(image, name=IMAGE["name"], key=old)["changed"]
    assert not module(image, **IMAGE)["changed"]
    assert module(image, name=IMAGE["name"], key=new)["changed"]
    assert sledd.objects["images"][IMAGE["name"]]["signature"] == signing.sign(new, IMAGE["digest"])
    assert "mutually exclusive" in module(image, name=IMAGE["name"], key=new, signature="x")["msg"]
    assert "No such file" in module(image, name=IMAGE["name"], key="/none")["msg"]
